"""Models of many languages (NLLB, M2M) are told theirs by codes, Marian by nothing; scores by teacher forcing."""

import io
import json

import numpy as np
import pytest
import sentencepiece
import torch
from transformers import (
    M2M100Config,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
    NllbTokenizer,
)

from goldcrest.errors import InputError
from goldcrest.translation.forced import load_reverse_scorer
from goldcrest.translation.hugging_face import language_code
from goldcrest.translation.search import SearchOptions
from goldcrest.translation.translator import load_translator

SENTENCES = ["the bird sings", "in the old tree the bird sings in the tree", "bird"]
SHAPE = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 512,
    "init_std": 0.8,
}


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    """A SentencePiece model of some words, and its pieces after the special tokens of M2M."""
    path = tmp_path_factory.mktemp("pieces") / "spm.model"
    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=io.BytesIO("\n".join(SENTENCES * 9).encode()),
            model_writer=file,
            vocab_size=36,
            hard_vocab_limit=False,
            minloglevel=2,
        )
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    names = [model.id_to_piece(i) for i in range(model.get_piece_size())]
    return path, [*special, *(name for name in names if name not in special)]


def save(model_class, config, tokenizer, folder):
    """Random weights, which never say the padding."""
    torch.manual_seed(1)
    model = model_class(config).eval()
    tokenizer.save_pretrained(folder)
    model.generation_config.suppress_tokens = [config.pad_token_id]
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def nllb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nllb") / "model"
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = ["\u2581", *sorted(set("".join(SENTENCES)) - {" "})]
    vocabulary = {piece: number for number, piece in enumerate([*special, *letters])}
    tokenizer = NllbTokenizer(vocab=vocabulary, merges=[])
    config = M2M100Config(vocab_size=len(tokenizer), decoder_start_token_id=2, **SHAPE)
    return save(M2M100ForConditionalGeneration, config, tokenizer, folder)


@pytest.fixture(scope="module")
def m2m(tmp_path_factory, pieces):
    folder = tmp_path_factory.mktemp("m2m") / "model"
    path, names = pieces
    vocabulary = path.with_name("vocab.json")
    vocabulary.write_text(json.dumps({name: number for number, name in enumerate(names)}))
    tokenizer = M2M100Tokenizer(str(vocabulary), str(path))
    size = len(names) + len(tokenizer.lang_code_to_token) + tokenizer.num_madeup_words
    config = M2M100Config(vocab_size=size, decoder_start_token_id=2, **SHAPE)
    return save(M2M100ForConditionalGeneration, config, tokenizer, folder)


@pytest.fixture(scope="module")
def marian(tmp_path_factory, pieces):
    folder = tmp_path_factory.mktemp("marian") / "model"
    path, names = pieces
    names = ["</s>", "<unk>", *(n for n in names[4:]), "<pad>"]
    vocabulary = path.with_name("marian.json")
    vocabulary.write_text(json.dumps({name: number for number, name in enumerate(names)}))
    tokenizer = MarianTokenizer(str(path), str(path), str(vocabulary))
    pad = len(names) - 1
    config = MarianConfig(
        vocab_size=len(names),
        pad_token_id=pad,
        eos_token_id=0,
        bos_token_id=0,
        decoder_start_token_id=pad,
        forced_eos_token_id=None,
        **SHAPE,
    )
    return save(MarianMTModel, config, tokenizer, folder)


def forced(model, source, prefix, output):
    """Mean log probability of the output, its end counted, after the prefix, by teacher forcing."""
    given = torch.tensor([[*prefix, *output[:-1]]])
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([source]), decoder_input_ids=given).logits[0]
    steps = logits[len(prefix) - 1 :].log_softmax(-1)
    return float(steps.gather(1, torch.tensor(output)[:, None]).mean())


def generated(translator, sentence, beam):
    """(score, all tokens with what stands before them) of each hypothesis of one sentence."""
    generate, sequences = translator._model.generate, []

    def kept(**arguments):
        output = generate(**arguments)
        sequences.extend(output.sequences.tolist())
        return output

    translator._model.generate = kept
    [hypotheses] = translator.nbest([sentence], SearchOptions(beam=beam, nbest=beam))
    translator._model.generate = generate
    pad = translator._model.config.pad_token_id
    rows = [[token for i, token in enumerate(row) if token != pad or i == 0] for row in sequences]
    return list(zip((h.score for h in hypotheses), rows, strict=True))


MULTILINGUAL = [("nllb", ("eng_Latn", "deu_Latn")), ("m2m", ("__en__", "__de__"))]


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize(("kind", "codes"), MULTILINGUAL)
def test_codes_stand_before_both_sides(request, kind, codes, beam):
    folder = request.getfixturevalue(kind)
    translator = load_translator(folder, languages=("en", "de"))
    tokenizer = translator._tokenizer
    of_language = getattr(tokenizer, "lang_token_to_id", None) or {
        code: tokenizer.convert_tokens_to_ids(code) for code in codes
    }
    source_code, target_code = (of_language[code] for code in codes)
    model = M2M100ForConditionalGeneration.from_pretrained(folder).eval()
    for sentence in SENTENCES:
        source = tokenizer(sentence)["input_ids"]
        assert (source[0], source[-1]) == (source_code, 2)
        assert source_code not in source[1:]
        for score, tokens in generated(translator, sentence, beam):
            assert tokens[:2] == [2, target_code]
            expected = forced(model, source, [2, target_code], tokens[2:])
            assert score == pytest.approx(expected, abs=1e-3)
            assert len(tokens) - 2 <= SearchOptions().limit(len(source))


@pytest.mark.parametrize(("kind", "codes"), MULTILINGUAL)
def test_forced_scores_leave_the_code_out(request, kind, codes):
    """Pairs of en and de scored in reverse: the input is German, the output English."""
    folder = request.getfixturevalue(kind)
    translator = load_translator(folder, languages=("de", "en"))
    tokenizer = translator._tokenizer
    model = M2M100ForConditionalGeneration.from_pretrained(folder).eval()
    expected = []
    for sentence in SENTENCES:
        given = tokenizer(sentence)["input_ids"]
        code, *output = tokenizer(text_target=sentence)["input_ids"]
        expected.append(forced(model, given, [2, code], output))
    found = load_reverse_scorer(folder, languages=("en", "de"))(SENTENCES, SENTENCES)
    assert np.allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("beam", [1, 4])
def test_marian_needs_no_codes(marian, beam):
    translator = load_translator(marian, languages=("en", "de"))
    model = MarianMTModel.from_pretrained(marian).eval()
    start = model.config.decoder_start_token_id
    for sentence in SENTENCES:
        source = translator._tokenizer(sentence)["input_ids"]
        for score, tokens in generated(translator, sentence, beam):
            assert tokens[0] == start
            expected = forced(model, source, [start], tokens[1:])
            assert score == pytest.approx(expected, abs=1e-3)


def test_codes_of_languages(nllb, m2m):
    many, hundred = (load_translator(folder)._tokenizer for folder in (nllb, m2m))
    assert language_code(many, "de", nllb) == "deu_Latn"
    assert language_code(many, "zho_Hant", nllb) == "zho_Hant"
    assert language_code(hundred, "de", m2m) == "de"
    with pytest.raises(InputError, match="has zho_Hans and zho_Hant for language 'zh'"):
        language_code(many, "zh", nllb)
    with pytest.raises(
        InputError, match=r"knows no language 'tlh'; name its code by `language_codes`"
    ):
        load_translator(m2m, languages=("en", "tlh"))
