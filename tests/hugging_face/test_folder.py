"""Model folders: whole and cut models are restored bit for bit; other folders are refused."""

import json
import re
from inspect import Parameter, signature

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models
from torch import nn
from transformers import (
    AutoTokenizer,
    LlavaConfig,
    LlavaForConditionalGeneration,
    PreTrainedTokenizerFast,
)

from tests.hugging_face.small import (
    GENERATORS,
    HEADS,
    MAKERS,
    NEURONS,
    foreign,
    logits,
    small_batch,
    small_model,
)
from weebill.errors import InputError
from weebill.generation.int8 import save_int8
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.pruning.cut import cut, layer_shapes
from weebill.pruning.depth import cut_layers


def cut_model(family):
    """Make all kinds of cuts: some and all heads and neurons of blocks, and a layer."""
    model = small_model(family)
    view = prunable(model)
    for stack in view.layer_stacks():
        cut_layers(view, stack.name, 1)
    heads = [[0], [1, 3], range(HEADS)]
    neurons = [range(NEURONS), [1, 4, 19]]
    cut(
        view,
        {b.name: heads[i % 3] for i, b in enumerate(view.attention_blocks())},
        {b.name: neurons[i % 2] for i, b in enumerate(view.feed_forward_blocks())},
    )
    return model


def test_a_large_model_is_one_file(tmp_path, monkeypatch):
    """The library divides models of over 50 GB, here of over 9 kB."""
    model, batch = small_model("gpt2"), small_batch("gpt2")
    write, names = type(model).save_pretrained, signature(type(model).save_pretrained).parameters
    defaults = [one.default for one in names.values() if one.default is not Parameter.empty]
    small = tuple("9KB" if value == "50GB" else value for value in defaults)
    monkeypatch.setattr(write, "__defaults__", small)
    model.save_pretrained(tmp_path / "theirs")
    assert len([*(tmp_path / "theirs").glob("*.safetensors")]) > 1
    save_model(tmp_path / "ours", model)
    assert torch.equal(logits(load_model(tmp_path / "ours"), batch), logits(model, batch))


@pytest.mark.parametrize("make", [small_model, cut_model])
@pytest.mark.parametrize("family", MAKERS)
def test_a_model_comes_back_to_the_bit(family, make, tmp_path):
    model, batch = make(family), small_batch(family)
    save_model(tmp_path / "model", model)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    loaded = load_model(tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), state), "nothing random is drawn to load a model"
    assert type(loaded) is type(model) and not loaded.training
    before, after = model.state_dict(), loaded.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    buffers = dict(loaded.named_buffers())
    assert all(torch.equal(buffer, buffers[name]) for name, buffer in model.named_buffers())
    for name, parameter in loaded.named_parameters():
        assert parameter.requires_grad == (parameter.numel() > 0), name
    assert torch.equal(logits(loaded, batch), logits(model, batch))
    assert layer_shapes(prunable(loaded)) == layer_shapes(prunable(model))
    names = [name for name, _ in model.named_parameters()]  # tied ones once
    assert [name for name, _ in loaded.named_parameters()] == names
    assert load_file(tmp_path / "model/model.safetensors").keys() == {
        name for name in before if name in names or name in dict(model.named_buffers())
    }
    save_model(tmp_path / "again", loaded)
    for file in (tmp_path / "model").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes(), file.name


@pytest.mark.parametrize("family", GENERATORS)
def test_a_loaded_model_generates_the_same(family, tmp_path):
    model = cut_model(family)
    model.generation_config.max_new_tokens = 7
    save_model(tmp_path, model)
    prompt = small_batch(family)["input_ids"][:, :2]
    expected, found = (
        each.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, num_beams=2)
        for each in (model, load_model(tmp_path))
    )
    assert torch.equal(found, expected)


@pytest.mark.parametrize("family", MAKERS)
def test_base_models_other_types_and_further_cuts(family, tmp_path):
    model = cut_model(family).base_model.to(torch.bfloat16)
    save_model(tmp_path, model)
    loaded = load_model(tmp_path)
    model.float()
    batch = small_batch(family)
    del batch["labels"]
    if "decoder_attention_mask" in batch:
        batch["decoder_input_ids"] = batch["input_ids"][:, :-2]
    with torch.inference_mode():
        expected, found = (each(**batch)[0] for each in (model, loaded))
    assert found.dtype == loaded.config.dtype == torch.float32
    assert torch.equal(found, expected)
    view = prunable(loaded)
    block = view.attention_blocks()[0]
    cut(view, {block.name: [0]})
    save_model(tmp_path, loaded)
    assert layer_shapes(prunable(load_model(tmp_path)))["heads"][block.name] == HEADS - 2


@pytest.mark.parametrize("family", MAKERS)
def test_a_folder_of_the_librarys_own(family, tmp_path):
    model = small_model(family)
    model.save_pretrained(tmp_path)
    batch = small_batch(family)
    loaded = load_model(tmp_path)
    before, after = model.state_dict(), loaded.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    # The last bits of sums depend on the weights' alignment in memory.
    torch.testing.assert_close(logits(loaded, batch), logits(model, batch))
    model.base_model.save_pretrained(tmp_path / "base")
    parts = dict(load_model(tmp_path / "base").named_parameters())
    assert parts.keys() == dict(model.base_model.named_parameters()).keys()
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"but pytorch_model.bin, and pickles are not read"):
        load_model(tmp_path)


def test_a_tokenizer_goes_along(tmp_path):
    words = Tokenizer(models.WordLevel({"[UNK]": 0, "gold": 1, "crest": 2}, unk_token="[UNK]"))
    save_model(tmp_path, small_model("gpt2"), PreTrainedTokenizerFast(tokenizer_object=words))
    assert AutoTokenizer.from_pretrained(tmp_path)("gold")["input_ids"] == [1]


def edit_config(path, **changes):
    config = json.loads((path / "config.json").read_text()) | changes
    (path / "config.json").write_text(json.dumps(config))


def lose_a_tensor(path):
    tensors = load_file(path / "model.safetensors")
    del tensors["transformer.ln_f.bias"]
    save_file(tensors, path / "model.safetensors", {"format": "pt"})


def shorten(path):
    content = (path / "model.safetensors").read_bytes()
    (path / "model.safetensors").write_bytes(content[:-5])


DAMAGES = {
    "no folder": (lambda path: (path / "config.json").unlink(), "not a model folder"),
    "no weights": (lambda path: (path / "model.safetensors").unlink(), "No such file"),
    "a lost tensor": (lose_a_tensor, r"tensors missing: \['transformer.ln_f.bias'\]"),
    "a short file": (shorten, r"model.safetensors: no safetensors, damaged"),
    "another depth": (
        lambda path: edit_config(path, n_layer=1),
        "layer_shapes: heads of decoder.1.self_attention are not",
    ),
    "another family": (
        lambda path: edit_config(path, model_type="electra"),
        "model_type 'electra', expected one of ba.*, gpt2, .*, marian, .*, t5, xlm-roberta",
    ),
    "no class": (
        lambda path: edit_config(path, architectures=["pipeline"]),
        r"architectures \['pipeline'\], expected the name",
    ),
    "other widths": (lambda path: edit_config(path, n_embd=28), "size mismatch"),
    "a width that is none": (lambda path: edit_config(path, n_embd="wide"), "n_embd"),
    "wider than whole": (
        lambda path: edit_config(path, layer_shapes={"heads": {"decoder.0.self_attention": 5}}),
        "layer_shapes: heads of decoder.0.self_attention, decoder.1.self_attention are",
    ),
    "no JSON": (lambda path: (path / "config.json").write_text("{"), "not valid JSON"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_refused(damage, tmp_path):
    save_model(tmp_path, cut_model("gpt2"))
    change, message = DAMAGES[damage]
    change(tmp_path)
    with pytest.raises(InputError, match=message) as refusal:
        load_model(tmp_path)
    assert re.match(re.escape(str(tmp_path)), str(refusal.value))


def test_what_only_holds_a_model_of_a_family_is_not_written(tmp_path):
    """The folder of a model that only contains a family's model could not be read again."""
    text = {"model_type": "llama", "vocab_size": 20, "hidden_size": 8, "intermediate_size": 8}
    shape = {"num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 4, "patch_size": 2}
    seeing = {"model_type": "clip_vision_model", "hidden_size": 8, "intermediate_size": 8, **shape}
    config = LlavaConfig(text_config={**text, **shape}, vision_config=seeing)
    model = LlavaForConditionalGeneration(config)
    for save in (save_int8, lambda one, path: save_model(path, one)):
        with pytest.raises(InputError, match="LlavaForConditionalGeneration is of no family"):
            save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_foreign_folder_without_all_tensors_is_refused(tmp_path):
    small_model("gpt2").save_pretrained(tmp_path)
    lose_a_tensor(tmp_path)
    with pytest.raises(InputError, match=r"tensors missing: \['transformer.ln_f.bias'\]"):
        load_model(tmp_path)


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    with pytest.raises(InputError, match="holds 0 models"):
        save_model(tmp_path / "model", foreign())
    holder = nn.ModuleDict({"encoder": small_model("gpt2")})
    with pytest.raises(InputError, match="ModuleDict is no model of transformers; save the one"):
        save_model(tmp_path / "model", holder)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("family", ["bart", "gpt2", "t5"])
def test_tensors_without_fractions_are_refused_and_halves_are_read(family, tmp_path):
    """Tested are our own folders; test_loading checks those of the library."""
    model = small_model(family)
    save_model(tmp_path, model)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    numbers = {name for name, value in tensors.items() if value.is_floating_point()}
    for kind, name in ((torch.int64, "I64"), (torch.bool, "BOOL"), (torch.complex64, "C64")):
        for changed in (numbers, {max(numbers)}):
            converted = {
                key: value.to(kind) if key in changed else value for key, value in tensors.items()
            }
            save_file(converted, file, {"format": "pt"})
            with pytest.raises(InputError, match=rf"tensor \S+ is {name}, expected F32 or F16 or"):
                load_model(tmp_path)
    for kind in (torch.float16, torch.bfloat16):
        halves = {
            key: value.to(kind) if key in numbers else value for key, value in tensors.items()
        }
        save_file(halves, file, {"format": "pt"})
        loaded = load_model(tmp_path).state_dict()
        assert all(torch.equal(loaded[key], halves[key].float()) for key in numbers)


@pytest.mark.parametrize("save", [save_model, lambda path, model: save_int8(model, path)])
@pytest.mark.parametrize(
    "settings",
    [{"temperature": 0.6}, {"early_stopping": True, "length_penalty": 2.0, "num_beams": 1}],
)
def test_settings_of_generation_that_contradict_each_other_are_named(save, settings, tmp_path):
    model = small_model("bart")
    model.generation_config.update(do_sample=False, **settings)
    with pytest.raises(InputError) as found:
        save(tmp_path / "model", model)
    message = str(found.value)
    assert message.startswith(f"{tmp_path}/model: not written, ") and "\n" not in message
    assert next(iter(settings)) in message and not (tmp_path / "model").exists()
