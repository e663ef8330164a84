"""Text of the compiled decoder, compared with that of transformers' `generate` over the same int8 layers."""

import pytest
import torch
from transformers import MarianConfig, MarianMTModel

from tests.generation.test_int8 import FOUR_BITS, cut_model
from tests.hugging_face import small
from weebill.errors import InputError
from weebill.generation.compiled import CompiledGenerator
from weebill.generation.decoders import describe
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.search_options import search_options
from weebill.kernels.decoder import CompiledDecoder
from weebill.kernels.extension import available

SEARCHES = {
    "greedy": {},
    "beams": {"num_beams": 3},
    "all beams": {"num_beams": 3, "num_return_sequences": 3, "length_penalty": 2.0},
    "short beams": {"num_beams": 4, "length_penalty": -1.0, "early_stopping": True},
    "patient beams": {"num_beams": 2, "early_stopping": "never"},
    "spans": {"no_repeat_ngram_size": 2},
    "spans of beams": {"num_beams": 3, "no_repeat_ngram_size": 3},
    "long": {"min_new_tokens": 8, "num_beams": 2},
    "longer": {"min_length": 11},
    "one of two lengths": {"min_length": 11, "min_new_tokens": 3},
    "forced": {"forced_bos_token_id": 7, "forced_eos_token_id": 2, "num_beams": 2},
    "suppressed": {"suppress_tokens": list(range(20, 40))},
    "several ends": {"eos_token_id": [2, 7, 9], "num_beams": 3},
    "several ends, late": {"eos_token_id": [2, 7], "min_new_tokens": 5, "num_beams": 2},
    "no end": {"eos_token_id": None, "num_beams": 2},
    "several forced ends": {"forced_eos_token_id": [2, 7], "num_beams": 2},
    "first beams": {"num_beams": 2, "length_penalty": 3.0, "early_stopping": True},
}


def batch_of(family, texts=5):
    """Return ids and mask of random texts, padded on the side where the family has padding."""
    draw = torch.Generator().manual_seed(3)
    ids = torch.randint(3, small.PIECES, (texts, 9), generator=draw)
    mask = (torch.arange(9) < torch.randint(3, 10, (texts, 1), generator=draw)).long()
    ids = ids.where(mask.bool(), small.PAD)
    if family in small.DECODERS:
        ids, mask = ids.flip(1), mask.flip(1)
    return {"input_ids": ids, "attention_mask": mask}


def livelier(model):
    """Return the model with larger weights, so that texts end at different lengths and do not loop."""
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(4)
        model.get_output_embeddings().weight[2] *= 1.5
    return model


MORE = ("mbart", "marian", "mt5", "wide-opt", "mistral", "qwen3")
MODELS = [
    *((family, make) for family in small.GENERATORS for make in (small.small_model, cut_model)),
    *((family, small.small_model) for family in MORE),
]
NAMES = [f"{family}-{make.__name__}" for family, make in MODELS]


@pytest.fixture(scope="module", params=range(len(MODELS)), ids=NAMES)
def folder(request, tmp_path_factory):
    """Return the number of a model, its family and its int8 folder."""
    family, make = MODELS[request.param]
    place = tmp_path_factory.mktemp("model")
    save_int8(livelier(make(family)), place / "int8")
    return request.param, family, place / "int8"


def test_writes_what_the_library_writes(folder):
    """Each model takes a quarter of the searches in turn, each with another instruction set."""
    number, family, place = folder
    for turn, (search, options) in enumerate(SEARCHES.items(), start=number):
        if turn % 4 == 0:
            model = load_int8(place, available()[turn // 4 % len(available())])
            options = {"do_sample": False, "max_new_tokens": 14, **options}
            expected = model.generate(**batch_of(family), **options)
            found = CompiledGenerator(model).generate(**batch_of(family), **options)
            assert found.tolist() == expected.tolist(), search


def test_padding_of_a_decoder_is_known_by_its_token(tmp_path):
    """The library makes a mask from the padding, unless texts end with the padding token."""
    save_int8(livelier(small.small_model("llama")), tmp_path / "int8")
    model, ids = load_int8(tmp_path / "int8"), batch_of("llama")["input_ids"]
    for padding in (small.PAD, 2, None):
        options = {"do_sample": False, "max_new_tokens": 9, "pad_token_id": padding}
        expected = model.generate(ids, **options)
        assert CompiledGenerator(model).generate(ids, **options).tolist() == expected.tolist()


@pytest.mark.parametrize("family", FOUR_BITS)
def test_writes_with_weights_of_four_bits(family, tmp_path):
    """Instruction sets take turns from family to family."""
    save_int8(livelier(small.small_model(family)), tmp_path / "int4", bits=4)
    isa = available()[FOUR_BITS.index(family) % len(available())]
    model = load_int8(tmp_path / "int4", isa)
    for search in ("greedy", "beams"):
        options = {"do_sample": False, "max_new_tokens": 14, **SEARCHES[search]}
        expected = model.generate(**batch_of(family), **options)
        found = CompiledGenerator(model).generate(**batch_of(family), **options)
        assert found.tolist() == expected.tolist()


DRAWS = [{}, {"temperature": 0.7, "top_k": 0}, {"top_k": 9, "top_p": 0.8}]


def test_draws_what_the_library_draws(folder):
    """Options take turns from model to model."""
    number, family, place = folder
    model = load_int8(place)
    one = {name: value[:1] for name, value in batch_of(family).items()}
    options = {"do_sample": True, "max_new_tokens": 14, **DRAWS[number % len(DRAWS)]}
    torch.manual_seed(11)
    expected = model.generate(**one, **options)
    found = CompiledGenerator(model).generate(**one, **options, seed=11)
    assert found.tolist() == expected.tolist()


def test_a_text_depends_on_no_other_and_on_no_thread(folder, monkeypatch):
    """Greedy search, beams and draws take turns from model to model."""
    number, family, place = folder
    generator, batch = CompiledGenerator(load_int8(place)), batch_of(family)
    options = ({}, {"num_beams": 2}, {"do_sample": True})[number % 3]
    options = {"max_new_tokens": 10, "eos_token_id": None, "do_sample": False, **options}
    together = generator.generate(**batch, **options, seed=20).tolist()
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert generator.generate(**batch, **options, seed=20).tolist() == together
    for i, expected in enumerate(together):
        one = {name: value[i : i + 1] for name, value in batch.items()}
        assert generator.generate(**one, **options, seed=20 + i).tolist() == [expected]


def test_without_top_k_all_tokens_are_drawn_from(tmp_path):
    """The library takes `top_k=None` for no top_k, but its default is 50."""
    save_int8(small.small_model("gpt2"), tmp_path / "int8")
    model = load_int8(tmp_path / "int8")
    for given, kinds in (({}, ["TopKLogitsWarper"]), ({"top_k": None}, [])):
        options = {"do_sample": True, **given}
        config, _ = model._prepare_generation_config(None, **options)
        theirs = model._get_logits_processor(config)
        ours = search_options(model, 3, options).warpers
        assert [type(one).__name__ for one in ours] == kinds
        assert [type(one).__name__ for one in theirs] == kinds


def test_draws_follow_the_probabilities(tmp_path):
    save_int8(livelier(small.small_model("gpt2")), tmp_path / "int8")
    model, ids = load_int8(tmp_path / "int8"), torch.tensor([[5, 9, 12]])
    options = {"do_sample": True, "top_k": 0, "max_new_tokens": 1, "num_return_sequences": 4000}
    drawn = CompiledGenerator(model).generate(ids, **options)[:, -1]
    with torch.inference_mode():
        expected = model(ids).logits[0, -1].softmax(0)
    shares = drawn.bincount(minlength=small.PIECES) / len(drawn)
    assert (shares - expected).abs().max() < 0.03  # 4 standard deviations


@pytest.mark.parametrize(("family", "seed"), [("llama", 1), ("mistral", 22)])
@torch.inference_mode()
def test_long_prompts_depend_on_no_other(family, seed, tmp_path):
    """Over 256 tokens are computed in parts that end inside a row; with these seeds, the order of sums matters."""
    window = {"sliding_window": 50} if family == "mistral" else {}
    save_int8(livelier(small.grouped(family.capitalize(), **window)), tmp_path / "int8")
    decoder = CompiledDecoder(describe(load_int8(tmp_path / "int8")))
    draw, lengths = torch.Generator().manual_seed(seed), [49, 53, 57, 58, 60, 59, 51]
    texts = [torch.randint(3, small.PIECES, (n,), generator=draw) for n in lengths]
    together = decoder.write(len(texts), 0).add(torch.cat(texts), lengths)
    for row, text in enumerate(texts):
        assert torch.equal(decoder.write(1, 0).add(text, [len(text)])[0], together[row])


@pytest.mark.parametrize("family", ["gpt2", "llama", "bart", "t5"])
def test_weights_in_float32_are_refused(family):
    with pytest.raises(InputError, match="weights are not int8; write it by `save_int8`"):
        CompiledGenerator(small.small_model(family))


@pytest.mark.parametrize(
    ("ids", "mask", "message"),
    [
        ([[5, 9, 12]], [[1, 1]], r"input_ids \(1, 3\), attention_mask \(1, 2\); give both as"),
        ([[5, 9, 12]], [[1, 1, 1]] * 2, r"input_ids \(1, 3\), attention_mask \(2, 3\)"),
        ([5, 9, 12], None, r"input_ids \(3,\), attention_mask \(3,\)"),
        ([[5, 9], [7, 40]], None, "text 2: token 40, but the model has 40; use its own"),
        ([[5, 9], [7, -1]], None, "text 2: token -1"),
        ([[5, 6, 1, 7]], [[1, 1, 0, 1]], "text 1: padding stands inside it"),
    ],
    ids=str,
)
def test_arrays_that_are_no_texts_are_refused(ids, mask, message, tmp_path):
    save_int8(small.small_model("mistral"), tmp_path / "int8")
    generator = CompiledGenerator(load_int8(tmp_path / "int8"))
    mask = None if mask is None else torch.tensor(mask)
    with pytest.raises(InputError, match=message):
        generator.generate(torch.tensor(ids), mask, max_new_tokens=2)
    whole = torch.tensor([[5, 9, 12]], dtype=torch.int32)
    found = generator.generate(whole, max_new_tokens=2, do_sample=False)
    assert (
        found.tolist()
        == generator.generate(whole.long(), max_new_tokens=2, do_sample=False).tolist()
    )


def test_options_of_the_model_are_named_with_their_remedy(tmp_path):
    save_int8(small.small_model("gpt2"), tmp_path / "int8")
    model, ids = load_int8(tmp_path / "int8"), torch.tensor([[5, 9, 12]])
    generator, short = CompiledGenerator(model), {"max_new_tokens": 2, "do_sample": False}
    expected = generator.generate(ids, **short).tolist()
    settings = {"repetition_penalty": 1.05, "min_p": 0.1, "disable_compile": True}
    vars(model.generation_config).update(settings)
    with pytest.raises(InputError, match="no `repetition_penalty`; give repetition_penalty=None"):
        generator.generate(ids, **short)
    assert generator.generate(ids, repetition_penalty=None, **short).tolist() == expected
    with pytest.raises(InputError, match="no `min_p`, `repetition_penalty`; give min_p=None, rep"):
        generator.generate(ids, max_new_tokens=2, do_sample=True)


def test_what_it_has_not_is_named(tmp_path):
    save_int8(small.small_model("gpt2"), tmp_path / "int8")
    generator, ids = CompiledGenerator(load_int8(tmp_path / "int8")), torch.tensor([[5, 9, 12]])
    for options, message in (
        (
            {"repetition_penalty": 1.2, "top": 3},
            r"no `repetition_penalty`, `top`; leave it out, or",
        ),
        ({"decoder_input_ids": torch.tensor([[1, 5]])}, "no `decoder_input_ids`; leave it out, or"),
        ({"decoder_start_token_id": [5]}, "no `decoder_start_token_id`; leave it out, or"),
        (
            {"do_sample": True, "num_beams": 2},
            "draws no beams; give num_beams=1 or do_sample=False",
        ),
        ({"num_return_sequences": 2}, "2 texts of 1 beams"),
        ({"max_length": 3}, "max_length: 3, but the prompt has 3 tokens"),
        ({"max_new_tokens": 31}, "texts of 33 tokens, but the model has 32 positions"),
        ({"attention_mask": torch.tensor([[0, 0, 0]])}, "text 1 is empty"),
    ):
        with pytest.raises(InputError, match=message):
            generator.generate(ids, **options)


def test_wrong_values_are_named(tmp_path):
    save_int8(small.small_model("bart"), tmp_path / "int8")
    model, ids = load_int8(tmp_path / "int8"), torch.tensor([[5, 9, 12]])
    generator = CompiledGenerator(model)
    for options, message in (
        ({"num_beams": 0}, "num_beams: 0, expected a whole number, at least 1"),
        ({"num_beams": 1.5}, "num_beams: 1.5, expected a whole number"),
        ({"num_return_sequences": 0}, "num_return_sequences: 0, expected"),
        ({"no_repeat_ngram_size": -1}, "no_repeat_ngram_size: -1, expected"),
        ({"min_length": -3}, "min_length: -3, expected"),
        ({"max_new_tokens": 0}, "max_new_tokens: 0, expected"),
        ({"max_new_tokens": "9"}, "max_new_tokens: '9', expected"),
        ({"early_stopping": "Never"}, "`early_stopping` must be .*; correct this option"),
        ({"do_sample": True, "temperature": 0.0}, "`temperature`.*; correct this option"),
        ({"do_sample": True, "top_p": -1.0}, "`top_p`.*; correct this option"),
        (
            {"forced_bos_token_id": 5, "suppress_tokens": [5]},
            "Every token in `forced_bos_token_id`",
        ),
        ({"guidance_scale": 0.0}, "no `guidance_scale`; leave it out"),
        ({"repetition_penalty": 0.0}, "no `repetition_penalty`; leave it out"),
        ({"decoder_start_token_id": None, "bos_token_id": None}, "has no decoder_start_token_id"),
    ):
        with pytest.raises(InputError, match=message):
            generator.generate(ids, **options)


@pytest.mark.parametrize("pieces", [30, 50])
def test_an_encoder_reads_its_own_pieces(pieces, tmp_path):
    """Marian's decoder may have fewer or more pieces than the 40 of its encoder."""
    config = small.small_model("marian").config.to_dict()
    own = {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False}
    config = MarianConfig(**config | own | {"decoder_vocab_size": pieces})
    save_int8(MarianMTModel(config), tmp_path / "int8")
    model, options = load_int8(tmp_path / "int8"), {"do_sample": False, "max_new_tokens": 5}
    generator, ids = CompiledGenerator(model), torch.tensor([[5, 39, 2]])
    assert generator.generate(ids, **options).tolist() == model.generate(ids, **options).tolist()
    with pytest.raises(InputError, match="text 1: token 40, but the model has 40"):
        generator.generate(ids + 1, **options)


@pytest.mark.parametrize("family", ["bart", "marian", "m2m_100", "t5"])
def test_texts_longer_than_an_encoders_positions_are_refused(family, tmp_path):
    """T5 and M2M-100 have no limit of positions, so they read such texts."""
    save_int8(small.small_model(family), tmp_path / "int8")
    model, ids = load_int8(tmp_path / "int8"), torch.full((1, 33), 5)
    options = {"do_sample": False, "max_new_tokens": 3}
    if family in ("t5", "m2m_100"):
        expected = model.generate(ids, **options).tolist()
        assert CompiledGenerator(model).generate(ids, **options).tolist() == expected
        return
    with pytest.raises(InputError, match="texts of 33 tokens, but the model reads 32; cut them"):
        CompiledGenerator(model).generate(ids, **options)
