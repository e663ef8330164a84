"""A Hugging Face seq2seq folder as a translator; scores are compared with teacher forcing."""

import json
import shutil
from itertools import chain

import pytest
import torch
from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

from weebill.errors import InputError
from weebill.rehearsal.making.translators import make_marian
from weebill.translation.force_decoding import load_reverse_scorer
from weebill.translation.loading import load_translator
from weebill_runtime.options import SearchOptions, ignore_cut

WORDS = [
    "the",
    "small",
    "bird",
    "sings",
    "in",
    "old",
    "tree",
    "der",
    "vogel",
    "singt",
    "im",
    "baum",
]
SENTENCES = ["the small bird sings", "in the old tree the bird sings in the tree", "bird"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a tiny BART with a word tokenizer; Marian's tokenizer would need its own vocabulary."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    path = tmp_path_factory.mktemp("hf") / "bart"
    special = ["<pad>", "</s>", "<unk>"]
    words = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate(special + WORDS)}, unk_token="<unk>")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(path)
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=len(special) + len(WORDS),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=1,
        decoder_start_token_id=1,
        forced_eos_token_id=None,
        init_std=0.8,
    )
    model = BartForConditionalGeneration(config).eval()
    with torch.no_grad():
        model.final_logits_bias[0, :3] = torch.tensor([-1e4, 6.0, -1e4])
    model.save_pretrained(path)
    return path


def log_probability(model, source, target) -> float:
    """Return the mean log probability of the target and its end, by teacher forcing."""
    inputs = torch.tensor([[1, *target]])
    outputs = torch.tensor([[*target, 1]])
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([source]), decoder_input_ids=inputs).logits
    return float(logits.log_softmax(-1).gather(2, outputs[..., None]).sum())


@pytest.mark.parametrize("beam", [1, 4])
def test_nbest_scores_are_log_probabilities_per_piece(folder, beam):
    translator = load_translator(folder)
    model = BartForConditionalGeneration.from_pretrained(folder).eval()
    tokens = {word: i + 3 for i, word in enumerate(WORDS)}
    found = translator.nbest(SENTENCES, SearchOptions(beam=beam, nbest=beam))
    for sentence, hypotheses in zip(SENTENCES, found, strict=True):
        assert len(hypotheses) == beam
        scores = [hypothesis.score for hypothesis in hypotheses]
        assert scores == sorted(scores, reverse=True)
        source = [*(tokens[word] for word in sentence.split()), 1]
        for hypothesis in hypotheses:
            total = log_probability(model, source, hypothesis.pieces)
            expected = total / (len(hypothesis.pieces) + 1)
            assert hypothesis.score == pytest.approx(expected, abs=1e-3)


def test_a_length_limit_holds_whatever_the_batch(folder):
    """The model never ends by itself; each output stops at its own limit, and its end is scored."""
    translator = load_translator(folder)
    with torch.no_grad():
        translator._model.final_logits_bias[0, 1] = -12.0
    for beam in (1, 3):
        found = translator.nbest(SENTENCES, SearchOptions(beam=beam, nbest=beam))
        for sentence, hypotheses in zip(SENTENCES, found, strict=True):
            limit = SearchOptions().limit(len(sentence.split()) + 1)
            assert {len(h.pieces) + 1 for h in hypotheses} == {limit}
            assert all(h.score < -12.0 / limit for h in hypotheses)


@pytest.mark.parametrize("pad", [1, None], ids=["the end", "none"])
def test_what_pads_outputs_changes_nothing(folder, tmp_path, pad):
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    for name in ("config.json", "generation_config.json"):
        settings = json.loads((other / name).read_text())
        (other / name).write_text(json.dumps({**settings, "pad_token_id": pad}))
    for options in (SearchOptions(), SearchOptions(beam=2, nbest=2)):
        found, expected = (
            load_translator(one).nbest(SENTENCES, options) for one in (other, folder)
        )
        for ours, theirs in zip(chain(*found), chain(*expected), strict=True):
            assert (ours.text, ours.score) == (theirs.text, pytest.approx(theirs.score, abs=1e-5))


def test_the_sides_of_a_tokenizer_change_nothing(folder, tmp_path):
    other = tmp_path / "left"
    shutil.copytree(folder, other)
    settings = json.loads((other / "tokenizer_config.json").read_text())
    settings |= {"padding_side": "left", "truncation_side": "left"}
    (other / "tokenizer_config.json").write_text(json.dumps(settings))
    options = SearchOptions(max_source_tokens=5)  # cuts the second sentence
    right, left = map(load_translator, (folder, other))
    for one in (right, left):
        one.on_cut = ignore_cut
    assert left.translate(SENTENCES, options) == right.translate(SENTENCES, options)
    scores = [one.scores(SENTENCES, SENTENCES[::-1], options) for one in (left, right)]
    assert scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize("beam", [1, 3])
def test_an_overflow_is_reported(folder, beam):
    """The states of some models overflow float16, and their translations would be arbitrary pieces."""
    translator, options = load_translator(folder), SearchOptions(beam=beam)
    with torch.no_grad():
        translator._model.model.encoder.layers[0].fc2.bias.fill_(torch.inf)
    with pytest.raises(InputError, match="take bfloat16 or float32"):
        translator.translate(SENTENCES, options)


def test_a_gpu_searches_larger_batches_unless_the_options_name_a_size(folder):
    translator, lengths = load_translator(folder), [10] * 600
    sizes = []
    for device, options in (
        ("cpu", SearchOptions(batch_size=None)),
        ("cuda:1", SearchOptions(batch_size=None, beam=4)),
        ("cuda:1", SearchOptions(batch_size=8)),
    ):
        translator.device = device
        sizes.append(len(translator._divide(lengths, options)[0]))
    assert sizes == [32, 256, 8]


def test_order_and_blank_lines(folder):
    translator = load_translator(folder)
    sentences = [SENTENCES[2], "", SENTENCES[0], " "]
    found = translator.translate(sentences)
    assert found[1] == found[3] == ""
    assert found[0] == translator.translate([SENTENCES[2]])[0]
    assert found[2] == translator.translate([SENTENCES[0]])[0]


def test_weights_are_read_from_safetensors_only(folder, tmp_path):
    """Weights in a pickle are refused, because a pickle can run code."""
    copy = tmp_path / "pickled"
    copy.mkdir()
    for file in folder.iterdir():
        if file.suffix != ".safetensors":
            (copy / file.name).write_bytes(file.read_bytes())
    model = BartForConditionalGeneration.from_pretrained(folder)
    torch.save(model.state_dict(), copy / "pytorch_model.bin")
    with pytest.raises(
        InputError, match=r"pickled: has no model.safetensors .* pytorch_model.bin, and"
    ):
        load_translator(copy)


def test_a_truncated_download_is_named(folder, tmp_path):
    copy = tmp_path / "truncated"
    shutil.copytree(folder, copy)
    with (copy / "model.safetensors").open("r+b") as file:
        file.truncate((folder / "model.safetensors").stat().st_size // 2)
    with pytest.raises(InputError, match=r"truncated/model.safetensors: no safetensors, damaged"):
        load_translator(copy)


@pytest.mark.parametrize("piece", [41, -1])
def test_padding_by_a_piece_that_the_model_lacks(folder, tmp_path, piece):
    """Wrong padding would fail only in batches whose sentences end at different steps."""
    copy = tmp_path / "padded"
    shutil.copytree(folder, copy)
    file = copy / "generation_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "pad_token_id": piece}))
    with pytest.raises(InputError, match=f"padded: pad_token_id is {piece}, but the model has 15"):
        load_translator(copy)


@pytest.mark.parametrize("cached", [False, 0])
def test_a_model_saved_without_its_cache_translates_as_with_it(folder, tmp_path, cached):
    """Trainings that save memory leave `use_cache: false`; with 0, the library makes longer and longer positions."""
    copy = tmp_path / "uncached"
    shutil.copytree(folder, copy)
    file = copy / "generation_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "use_cache": cached}))
    options = SearchOptions(beam=2)
    expected = load_translator(folder).translate(SENTENCES, options)
    assert load_translator(copy).translate(SENTENCES, options) == expected


@pytest.mark.parametrize(
    ("values", "message"),
    [
        # The tokenizer adds this piece, and the model lacks it.
        ({"pad_token": "xxxx"}, r"has 15 pieces; restore tokenizer_config\.json"),
        ({"model_max_length": [512]}, r"long: model_max_length is \[512\], expected a number"),
    ],
)
def test_values_of_a_tokenizer_that_do_not_fit(folder, tmp_path, values, message):
    copy = tmp_path / "long"
    shutil.copytree(folder, copy)
    file = copy / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))
    with pytest.raises(InputError, match=message):
        load_translator(copy)


def test_a_piece_whose_number_is_a_fraction(tmp_path):
    """For Python, 4.0 is in range(9), but for PyTorch it is no row of a table."""
    folder = make_marian(tmp_path / "marian")
    path = folder / "vocab.json"
    numbers = json.loads(path.read_text())
    word = next(word for word in numbers if word.startswith("▁") and len(word) > 3)
    path.write_text(json.dumps({**numbers, word: 4.0}))
    with pytest.raises(
        InputError, match=rf"marian: its tokenizer gives the piece '{word}' the number 4\.0"
    ):
        load_translator(folder)


def test_a_hugging_face_model_stands_alone(folder):
    with pytest.raises(InputError, match="cannot be part of an ensemble"):
        load_translator([folder, folder])


def test_forced_scores_are_those_of_teacher_forcing(folder):
    """Scores are mean log probabilities of the output's tokens and end, alone or in a batch."""
    model = BartForConditionalGeneration.from_pretrained(folder).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    outputs = ["der vogel singt", "im baum singt der vogel im baum", "vogel"]
    expected = []
    for given, output in zip(SENTENCES, outputs, strict=True):
        ids = torch.tensor([tokenizer(output)["input_ids"]])
        with torch.no_grad():
            loss = model(torch.tensor([tokenizer(given)["input_ids"]]), labels=ids).loss
        expected.append(-float(loss))
    found = load_reverse_scorer(folder)(outputs, SENTENCES)
    assert found == pytest.approx(expected, rel=1e-4)


def test_settings_without_an_end_of_translation_are_named(folder, tmp_path):
    copy = tmp_path / "endless"
    shutil.copytree(folder, copy)
    (copy / "generation_config.json").write_text('{"max_length": 20}')
    with pytest.raises(InputError, match=r"endless: no eos_token_id, .* generation_config.json"):
        load_translator(copy)
