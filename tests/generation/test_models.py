"""Summaries by small models depend only on the article and the search."""

import json
from dataclasses import replace

import pytest
import torch
from transformers import UMT5Config, UMT5ForConditionalGeneration

from tests.hugging_face.small import small_model
from weebill.errors import InputError
from weebill.generation.data import read_part, task_of
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.models import Generator, load_generator, summarize
from weebill.generation.settings import SearchSettings


def test_summaries_do_not_depend_on_their_neighbours(made):
    model, data = made["bart"]
    generator = load_generator(model)
    articles = [row["article"] for row in read_part(data, "train")][:9]
    for beam, side in ((1, "right"), (3, "right"), (1, "left")):
        generator.tokenizer.padding_side = side
        alone, together = (
            summarize(generator, articles, SearchSettings(beam, 12, batch_size=size), 40)
            for size in (1, 4)
        )
        assert alone == together


@pytest.mark.parametrize("family", ["bart", "gpt2", "t5", "llama"])
def test_a_folder_without_a_tokenizer_is_named(family, tmp_path):
    """The library would make an empty tokenizer, to which all texts are unknown."""
    small_model(family).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="has no tokenizer; save it beside the model"):
        load_generator(tmp_path)


def test_a_tokenizer_without_padding_is_named(made, tmp_path):
    """Only an encoder-decoder reads several texts in a batch."""
    for name in ("bart", "gpt2"):
        generator = load_generator(made[name][0])
        generator.tokenizer.pad_token = None
        generator.model.save_pretrained(tmp_path / name)
        generator.tokenizer.save_pretrained(tmp_path / name)
    with pytest.raises(InputError, match=r"bart: its tokenizer has no padding \(pad_token\)"):
        load_generator(tmp_path / "bart")
    assert load_generator(tmp_path / "gpt2").tokenizer.pad_token is None


def test_what_stands_before_a_summary_must_be_known(made, tmp_path):
    model, data = made["bart"]
    generator = load_generator(model)
    other = small_model("mbart")
    other.config.decoder_start_token_id = None
    other = replace(generator, model=other)
    with pytest.raises(InputError, match="no decoder_start_token_id, which stands before each sum"):
        other.check(task_of(data), {})


def test_a_models_own_settings_of_search_do_not_count(made):
    model, data = made["bart"]
    plain, other = load_generator(model), load_generator(model)
    other.model.generation_config.update(
        num_beams=2,
        num_return_sequences=2,
        min_length=20,
        repetition_penalty=3.0,
        no_repeat_ngram_size=1,
        encoder_no_repeat_ngram_size=1,
        encoder_repetition_penalty=3.0,
        length_penalty=9.0,
        sequence_bias=[[[9], 99.0]],
        renormalize_logits=True,
        guidance_scale=3.0,
        penalty_alpha=0.6,
        stop_strings=["e"],
        max_time=1e-9,
        return_dict_in_generate=True,
        output_scores=True,
        cache_implementation="static",
        prompt_lookup_num_tokens=2,
    )
    articles = [row["article"] for row in read_part(data, "train")][:5]
    one, two = (summarize(each, articles, SearchSettings(3, 12), 40) for each in (plain, other))
    assert one == two


def test_summaries_longer_than_a_models_positions_are_refused(made):
    generator = load_generator(made["bart"][0])
    with pytest.raises(InputError, match=r"search.max_tokens: 41 tokens, but .* has 40 positions"):
        summarize(generator, ["a"], SearchSettings(1, 41), 40)
    with pytest.raises(InputError, match="articles: found 'a', expected a list of strings"):
        summarize(generator, "a", SearchSettings(1, 4), 40)


def test_the_compiled_decoder_writes_what_it_can(tmp_path):
    """An int8 model's settings forbid words, which only the library's `generate` can do."""
    save_int8(small_model("gpt2"), tmp_path / "int8")
    generator = Generator(tmp_path, load_int8(tmp_path / "int8"), None)
    ids = torch.tensor([[5, 9, 12]])
    options = {"attention_mask": ids > 0, "settings": SearchSettings(1, 4)}
    token = int(generator.generate(ids, **options)[0, 3])
    calls = []
    generator.model.generate = lambda *_, **given: calls.append(given)
    assert int(generator.generate(ids, **options)[0, 3]) == token and not calls
    generator.generate(ids, **options, bad_words_ids=[[token]])
    generator.model.generation_config.bad_words_ids = [[token]]
    generator.generate(ids, **options)
    assert len(calls) == 2


@pytest.mark.parametrize("architectures", [["base"], [], None])
@pytest.mark.parametrize("name", ["bart", "gpt2"])
def test_a_folder_of_the_base_class_is_read_as_the_class_that_writes(
    name, architectures, made, tmp_path
):
    """Such is facebook/bart-large: its configuration names BartModel."""
    whole = load_generator(made[name][0])
    whole.model.base_model.save_pretrained(tmp_path)
    whole.tokenizer.save_pretrained(tmp_path)
    if architectures != ["base"]:
        path = tmp_path / "config.json"
        values = json.loads(path.read_text()) | {"architectures": architectures}
        path.write_text(json.dumps(values))
    found = load_generator(tmp_path).model
    assert type(found) is type(whole.model)
    state = found.state_dict()
    assert all(torch.equal(state[key], value) for key, value in whole.model.state_dict().items())


def test_an_encoder_writes_no_text(made, tmp_path):
    small_model("xlm-roberta").base_model.save_pretrained(tmp_path)
    load_generator(made["bart"][0]).tokenizer.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="XLMRobertaModel generates no text"):
        load_generator(tmp_path)


def test_an_old_configuration_does_not_say_that_a_model_is_a_pair(made, tmp_path):
    config = UMT5Config(
        vocab_size=400, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, pad_token_id=1
    )
    model = UMT5ForConditionalGeneration(config)
    model.save_pretrained(tmp_path)
    load_generator(made["bart"][0]).tokenizer.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    values = json.loads(path.read_text())
    del values["is_encoder_decoder"]
    path.write_text(json.dumps(values))
    assert load_generator(tmp_path).pairs


def test_an_article_with_a_piece_that_the_model_lacks_is_named(made):
    """Such are added tokens that were saved without resizing the model."""
    generator = load_generator(made["bart"][0])
    articles = ["The wren sang.", "The <late> wren."]
    assert len(summarize(generator, articles, SearchSettings(1, 4), 40)) == 2
    generator.tokenizer.add_tokens(["<late>"])
    with pytest.raises(InputError, match=r"text 2: has '<late>', piece .* but the model has"):
        summarize(generator, articles, SearchSettings(1, 4), 40)
