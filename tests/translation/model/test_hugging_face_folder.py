"""Language codes of multilingual models (NLLB, M2M), no codes for Marian; scores by teacher forcing."""

import numpy as np
import pytest
import torch
from transformers import (
    M2M100ForConditionalGeneration,
    MarianMTModel,
    MarianTokenizer,
    MBartForConditionalGeneration,
)

from weebill.errors import InputError
from weebill.rehearsal.making.translators import (
    SENTENCES,
    make_m2m,
    make_marian,
    make_mbart,
    make_nllb,
)
from weebill.translation.force_decoding import load_reverse_scorer
from weebill.translation.loading import load_translator
from weebill.translation.model.hugging_face_folder import (
    check_folder,
    known_codes,
    language_code,
    load_tokenizer,
)
from weebill_runtime.options import SearchOptions


@pytest.fixture(scope="module")
def nllb(tmp_path_factory):
    return make_nllb(tmp_path_factory.mktemp("nllb") / "model")


@pytest.fixture(scope="module")
def m2m(tmp_path_factory):
    return make_m2m(tmp_path_factory.mktemp("m2m") / "model")


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    return make_marian(tmp_path_factory.mktemp("marian") / "model")


def forced(model, source, prefix, output):
    """Return the mean log probability of the output and its end, after the prefix, by teacher forcing."""
    given = torch.tensor([[*prefix, *output[:-1]]])
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([source]), decoder_input_ids=given).logits[0]
    steps = logits[len(prefix) - 1 :].log_softmax(-1)
    return float(steps.gather(1, torch.tensor(output)[:, None]).mean())


def generated(translator, sentence, beam):
    """Return (score, all tokens with their prefix) of each hypothesis of one sentence."""
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


def check_generated(translator, model, sentence, beam, source, begin):
    """Check that each output begins so, and that its score is the model's when it is forced."""
    for score, tokens in generated(translator, sentence, beam):
        assert tokens[: len(begin)] == begin
        output = tokens[len(begin) :]
        assert score == pytest.approx(forced(model, source, begin, output), abs=1e-3)
        assert len(output) <= SearchOptions().limit(len(source))


MULTILINGUAL = [("nllb", ("eng_Latn", "deu_Latn")), ("m2m", ("__en__", "__de__"))]


@pytest.mark.parametrize(("kind", "codes", "beam"), [(*MULTILINGUAL[0], 1), (*MULTILINGUAL[1], 4)])
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
        check_generated(translator, model, sentence, beam, source, [2, target_code])


@pytest.mark.parametrize(("kind", "codes"), MULTILINGUAL)
def test_forced_scores_leave_the_code_out(request, kind, codes):
    """English-German pairs are scored in reverse: the input is German, the output English."""
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


def test_codes_stand_after_the_input_and_start_the_output(tmp_path):
    folder = make_mbart(tmp_path / "mbart")
    translator = load_translator(folder, languages=("en", "de"))
    tokenizer = translator._tokenizer
    english, german = (tokenizer.convert_tokens_to_ids(code) for code in ("en_XX", "de_DE"))
    model = MBartForConditionalGeneration.from_pretrained(folder).eval()
    expected = []
    for sentence in SENTENCES:
        source = tokenizer(sentence)["input_ids"]
        assert source[-2:] == [2, english]
        check_generated(translator, model, sentence, 4, source, [german])
        expected.append(forced(model, source, [german], source[:-1]))
    found = load_reverse_scorer(folder, languages=("de", "en"))(SENTENCES, SENTENCES)
    assert np.allclose(found, expected, atol=1e-4)


def test_marian_needs_no_codes(marian):
    translator = load_translator(marian, languages=("en", "de"))
    model = MarianMTModel.from_pretrained(marian).eval()
    start = model.config.decoder_start_token_id
    for sentence in SENTENCES:
        source = translator._tokenizer(sentence)["input_ids"]
        check_generated(translator, model, sentence, 1, source, [start])


def test_a_code_is_the_first_word_for_marian_into_many(tmp_path):
    """The code is one piece before the source's pieces, as the tokenizer itself encodes it."""
    folder = make_marian(tmp_path / "many", (">>deu<<", ">>nld<<"))
    translator = load_translator(folder, languages=("en", "de"))
    tokenizer = MarianTokenizer.from_pretrained(folder)
    code = tokenizer.convert_tokens_to_ids(">>deu<<")
    model = MarianMTModel.from_pretrained(folder).eval()
    start = model.config.decoder_start_token_id
    expected = []
    for sentence in SENTENCES:
        ids = tokenizer(sentence)["input_ids"]
        check_generated(translator, model, sentence, 2, [code, *ids], [start])
        expected.append(forced(model, [code, *ids], [start], ids))
    found = load_reverse_scorer(folder, languages=("de", "en"))(SENTENCES, SENTENCES)
    assert np.allclose(found, expected, atol=1e-4)
    with pytest.raises(InputError, match="knows no language 'fr'"):
        load_translator(folder, languages=("en", "fr"))


def test_blank_lines_are_empty_whatever_the_code(tmp_path, nllb):
    many = make_marian(tmp_path / "many", (">>deu<<",))
    for folder in (many, nllb):
        assert load_translator(folder, languages=("en", "de")).translate(["", " "]) == ["", ""]


def test_codes_of_languages(nllb, m2m):
    many, hundred = (known_codes(load_tokenizer(folder)) for folder in (nllb, m2m))
    assert len(many) == 202 and len(hundred) == 100
    assert language_code(many, "de", nllb) == "deu_Latn"
    assert language_code(many, "zho_Hant", nllb) == "zho_Hant"
    assert language_code(many, "zh-TW", nllb) == "zho_Hant"
    assert language_code(many, "fa", nllb) == "pes_Arab"
    assert language_code(many, "ps", nllb) == "pbt_Arab"  # the only one of the macrolanguage
    assert language_code(hundred, "de", m2m) == "de"
    with pytest.raises(InputError, match="has zho_Hans and zho_Hant for language 'zh'"):
        language_code(many, "zh", nllb)
    with pytest.raises(InputError, match=r"knows no language 'deu_latin'.*did you mean 'deu_Latn'"):
        language_code(many, "deu_latin", nllb)
    with pytest.raises(InputError, match=r"knows no language 'tlh'; name its code"):
        load_translator(m2m, languages=("en", "tlh"))
    with pytest.raises(InputError, match="a model of many languages; tell it"):
        load_translator(m2m)


def test_a_folder_is_checked_without_its_weights(tmp_path, nllb, marian):
    check_folder(nllb, ("en", "de"))
    check_folder(marian, ("en", "de"))
    with pytest.raises(InputError, match="no codes of languages; remove language_codes"):
        check_folder(marian, ("en", "de"), coded=True)
    with pytest.raises(InputError, match="has zho_Hans and zho_Hant"):
        check_folder(nllb, ("en", "zh"))
    kept = {file.name: file.read_bytes() for file in nllb.iterdir()}
    for name in ("config.json", "model.safetensors"):
        broken = tmp_path / name
        broken.mkdir()
        for other, content in kept.items():
            if other != name:
                (broken / other).write_bytes(content)
    with pytest.raises(InputError, match=r"config.json.*config.json"):
        check_folder(tmp_path / "config.json", ("en", "de"))
    with pytest.raises(InputError, match=r"has no model.safetensors"):
        check_folder(tmp_path / "model.safetensors", ("en", "de"))
    (tmp_path / "model.safetensors/config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(InputError, match="model_type is 'gpt2', expected a sequence-to-sequence"):
        check_folder(tmp_path / "model.safetensors", ("en", "de"))
