"""A model folder is read as transformers saved it, in float32, or refused in one line that names the place."""

import io
import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM, PreTrainedModel
from transformers.initialization import no_init_weights

from tests.hugging_face.small import NEURONS, PIECES, logits, small_batch, small_model, t5
from tests.metric.small import make_checkpoint, make_encoder
from weebill.configuration.checking import unfit_models
from weebill.errors import InputError
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.models import Generator
from weebill.hugging_face.folder import load_model, save_model
from weebill.hugging_face.loading import check_cache, library_alone, pretrained_model
from weebill.metric.folder import load_metric
from weebill.rehearsal.making.translators import make_marian
from weebill.translation.loading import load_translator
from weebill.translation.model.hugging_face_folder import check_folder

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
ENCODER = "model.encoder.layers.0.fc1.weight"


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    return make_marian(tmp_path_factory.mktemp("marian"))


@pytest.fixture
def bart(tmp_path) -> Path:
    small_model("bart").save_pretrained(tmp_path / "bart")
    return tmp_path / "bart"


def refusal(call, *arguments) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def configure(folder: Path, **entries) -> None:
    path = folder / CONFIG
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def store(folder: Path, tensors: dict) -> None:
    copies = {name: value.clone().contiguous() for name, value in tensors.items()}
    save_file(copies, folder / WEIGHTS, {"format": "pt"})


@pytest.mark.parametrize("key", ["encoder_layers", "decoder_layers"])
def test_more_layers_than_tensors_are_refused_before_they_are_made(bart, key):
    configure(bart, **{key: 10**6})
    message = refusal(load_model, bart)
    assert f"{bart}/config.json: {key} is 1000000, but the weights are only" in message


@pytest.mark.parametrize("family", ["bart", "gpt2"])
def test_our_own_folders_too(tmp_path, family):
    model = small_model(family)
    save_model(tmp_path / "own", model)
    save_int8(model, tmp_path / "int8")
    for folder, load in ((tmp_path / "own", load_model), (tmp_path / "int8", load_int8)):
        path = folder / CONFIG
        values = json.loads(path.read_text())
        key = next(key for key in ("n_layer", "encoder_layers") if key in values)
        path.write_text(json.dumps({**values, key: 10**6}))
        assert f"{path}: {key} is 1000000, but the weights are only" in refusal(load, folder)


def test_a_question_of_the_library_has_no_answer(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with library_alone(), pytest.raises(EOFError):
        input("May I run it?")
    assert sys.stdin.read() == "y\n"


def test_a_panic_of_the_library_is_an_error():
    class PanicException(BaseException):
        """Exception of the library's Rust."""

    with pytest.raises(ValueError, match="PanicException: no entry"), library_alone():
        raise PanicException("no entry")
    with pytest.raises(KeyboardInterrupt), library_alone():
        raise KeyboardInterrupt


def test_parameters_that_are_lost_or_no_fractions_are_refused(marian, tmp_path):
    """The library would invent or convert them."""
    tensors = load_file(marian / WEIGHTS)
    for kind in (torch.int64, torch.bool, torch.complex64, None):
        folder = tmp_path / str(kind)
        shutil.copytree(marian, folder)
        changed = {
            name: value.to(kind) if kind else value
            for name, value in tensors.items()
            if kind or name != ENCODER
        }
        save_file(changed, folder / WEIGHTS, {"format": "pt"})
        message = refusal(pretrained_model, AutoModelForSeq2SeqLM, folder)
        assert ("expected one of F64, F32" if kind else f"missing: ['{ENCODER}']") in message


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_of_the_library_is_read_as_float32(tmp_path, kind):
    model = small_model("bart").to(kind)
    model.save_pretrained(tmp_path)
    loaded = load_model(tmp_path)
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value.float())


@pytest.mark.parametrize(
    "entries", [{"dtype": "float16"}, {"torch_dtype": "bfloat16", "dtype": None}]
)
def test_the_type_that_a_configuration_names_rounds_no_weights(marian, tmp_path, entries):
    shutil.copytree(marian, tmp_path / "copy")
    configure(tmp_path / "copy", **entries)
    found = load_translator(tmp_path / "copy")._model.state_dict()
    expected = load_translator(marian)._model.state_dict()
    assert all(torch.equal(found[name], value) for name, value in expected.items())


# What a configuration says against its weights, and what the line must name.
LIES = {
    "more pieces": ({"vocab_size": PIECES + 7}, [f"(1, {PIECES})", f"(1, {PIECES + 7})"]),
    "fewer pieces": ({"vocab_size": PIECES - 1}, [f"(1, {PIECES})", f"(1, {PIECES - 1})"]),
    "fewer pieces than the padding's": ({"vocab_size": 1}, ["pad_token_id is 1, but vocab_size is 1"]),
    "a text": ({"vocab_size": "9"}, ["'vocab_size' expected int, got str (value: '9')"]),
    "another width": ({"encoder_ffn_dim": 9}, [f"({NEURONS},)", "(9,)"]),
    "fewer layers": ({"encoder_layers": 1}, ["model.encoder.layers.1.", "has no place in the model"]),
    "other positions": ({"max_position_embeddings": 50}, ["(34, ", "(52, "]),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_configuration_that_does_not_fit_the_weights_is_refused(bart, lie):
    entries, told = LIES[lie]
    configure(bart, **entries)
    message = refusal(load_model, bart)
    assert str(bart) in message and all(one in message for one in told)
    assert "config.json" in message or lie == "a text"


def test_a_bias_that_the_configuration_leaves_out_is_not_dropped(tmp_path):
    """Such are the biases of Qwen in a folder that says it is Llama's."""
    small_model("llama").save_pretrained(tmp_path)
    name = "model.layers.1.self_attn.q_proj"
    tensors = load_file(tmp_path / WEIGHTS)
    store(tmp_path, {**tensors, f"{name}.bias": tensors[f"{name}.weight"][:, 0]})
    assert f"tensor {name}.bias has no place in the model" in refusal(load_model, tmp_path)


def test_masks_that_older_versions_stored_do_not_matter(tmp_path):
    model = small_model("gpt2")
    mask = torch.ones(1, 1, 32, 32)
    store(tmp_path, model.state_dict() | {"transformer.h.0.attn.bias": mask})
    model.config.save_pretrained(tmp_path)
    configure(tmp_path, architectures=["GPT2LMHeadModel"])
    batch = small_batch("gpt2")
    torch.testing.assert_close(logits(load_model(tmp_path), batch), logits(model, batch))


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module."])
def test_a_wrapped_model_is_named(bart, prefix):
    store(bart, {prefix + name: value for name, value in load_file(bart / WEIGHTS).items()})
    message = refusal(load_model, bart)
    assert f"named as in a wrapper, such as {prefix}final_logits_bias; save the model" in message


@pytest.mark.parametrize("stored", ["once", "all", "head"])
@pytest.mark.parametrize("family", ["bart", "gpt2", "t5", "qwen2"])
def test_tied_weights_may_be_stored_by_any_of_their_names(tmp_path, family, stored):
    model, batch = small_model(family), small_batch(family)
    model.save_pretrained(tmp_path)
    tied = {"shared.weight", "embed_tokens.weight", "wte.weight"}
    if stored != "once":
        store(tmp_path, {
            name: value for name, value in model.state_dict().items()
            if stored == "all" or not name.endswith(tuple(tied))
        })  # fmt: skip
    torch.testing.assert_close(logits(load_model(tmp_path), batch), logits(model, batch))


@pytest.fixture
def parts(bart) -> tuple[Path, Path]:
    """Store a model in two files; return the folder and the second of them."""
    tensors = load_file(bart / WEIGHTS)
    (bart / WEIGHTS).unlink()
    places = {name: f"model-0000{1 + i % 2}-of-00002.safetensors" for i, name in enumerate(tensors)}
    for place in {*places.values()}:
        part = {name: tensors[name] for name in tensors if places[name] == place}
        save_file(part, bart / place, {"format": "pt"})
    (bart / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return bart, bart / "model-00002-of-00002.safetensors"


def test_a_model_of_several_files(parts):
    folder, part = parts
    loaded = load_model(folder).state_dict()
    assert all(
        torch.equal(loaded[name], value) for name, value in small_model("bart").state_dict().items()
    )
    whole = part.read_bytes()
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    for content in (b"", whole[:-9], pointer):
        part.write_bytes(content)
        assert refusal(load_model, folder).startswith(f"{part}: no safetensors, damaged, or a poi")
    part.unlink()
    assert refusal(load_model, folder).startswith(f"{part}: no such file; fetch or make")
    (folder / INDEX).write_text("{}")
    assert refusal(load_model, folder).startswith(f"{folder / INDEX}: has no weight_map; fetch")
    (folder / INDEX).unlink()
    assert "but model-00001-of-00002.safetensors, and pickles are not" in refusal(
        load_model, folder
    )


@pytest.mark.parametrize(
    "other", ["pytorch_model.bin", "tf_model.h5", "model.gguf", "model.fp16.safetensors"]
)
def test_weights_in_other_formats_are_named(marian, tmp_path, other):
    """The check at a workflow's start says the same as the loader."""
    folder = tmp_path / "copy"
    shutil.copytree(marian, folder)
    (folder / WEIGHTS).rename(folder / other)
    for call, *more in ((load_model,), (load_translator,), (check_folder, ("en", "de"))):
        message = refusal(call, folder, *more)
        assert message.startswith(
            f"{folder}: has no {WEIGHTS} or {INDEX}, but {other}, and pickles"
        )


def test_the_start_of_a_workflow_tells_what_a_job_would(marian, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(marian, folder)
    model = {"by": "hugging_face", "hugging_face": str(folder)}
    config = {
        "kind": "generation",
        "data": {},
        "models": {"m": model},
        "pipelines": [],
        "steps": {},
    }
    assert unfit_models(config) == []
    (folder / WEIGHTS).write_bytes(b"version https://git-lfs.github.com/spec/v1")
    (line,) = unfit_models(config)
    assert line.startswith(
        f"models.m.hugging_face: {folder / WEIGHTS}: no safetensors, damaged, or"
    )
    (folder / WEIGHTS).unlink()
    assert f"hugging_face: {folder}: has no {WEIGHTS}" in unfit_models(config)[0]


@pytest.mark.parametrize("method", ["gptq", "awq", "bitsandbytes", "fp8", "new"])
def test_weights_that_another_library_quantized_are_refused(bart, method):
    """Of an unknown method the library only warns, and takes the codes for weights."""
    configure(bart, quantization_config={"quant_method": method})
    message = refusal(load_model, bart)
    assert (
        f"{bart}/config.json: quantization_config: weights quantized by {method} are not" in message
    )


@pytest.mark.parametrize("name", [CONFIG, "generation_config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", ["", "[]", '{"num_beams": 4', '"text"'])
def test_damaged_settings_are_not_ignored(marian, tmp_path, name, content):
    shutil.copytree(marian, tmp_path / "copy")
    path = tmp_path / "copy" / name
    path.write_text(content)
    assert refusal(load_model, path.parent).startswith(f"{path}: ")


@pytest.mark.parametrize("deep", [1, 2, 4])
def test_a_decoder_for_which_the_librarys_cache_is_too_small(tmp_path, deep):
    model = t5()
    config = {**model.config.to_dict(), "num_layers": 2, "num_decoder_layers": deep}
    model = type(model)(type(model.config)(**config)).eval()
    ids = small_batch("t5")["input_ids"]
    model.save_pretrained(tmp_path)
    loaded = load_model(tmp_path)
    if deep <= 2:
        check_cache(loaded, tmp_path)
        options = {"max_new_tokens": 5, "do_sample": False}
        found = [loaded.generate(ids, use_cache=cached, **options) for cached in (True, False)]
        assert torch.equal(*found)
        return
    told = f"{tmp_path}: a t5 with 4 layers above an encoder of 2: the library's key-value cache"
    assert refusal(check_cache, loaded, tmp_path).startswith(told)
    generator = Generator(tmp_path, loaded, None)
    assert refusal(generator.check, "summarization", {}).startswith(told)
    with pytest.raises(IndexError):  # once the library makes room, the check can go
        loaded.generate(ids, max_new_tokens=2)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("save", [save_model, lambda path, model: model.save_pretrained(path)])
def test_a_diverged_model_is_named(tmp_path, save, number):
    """It would write empty texts."""
    model = small_model("gpt2")
    model.transformer.h[1].mlp.c_fc.weight.data[3, 2] = number
    save(tmp_path / "model", model)
    told = f"{tmp_path}/model: NaN or infinity in transformer.h.1.mlp.c_fc.weight; the model has"
    assert refusal(load_model, tmp_path / "model").startswith(told)


def test_threads_read_one_after_the_other(bart, tmp_path):
    """Overlapping threads would leave new layers of PyTorch without initial values: arbitrary memory."""
    save_int8(small_model("bart"), tmp_path / "int8")
    metric = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    readers = {load_model: bart, load_int8: tmp_path / "int8", load_metric: metric}
    before = sys.stdin, torch.nn.init.kaiming_uniform_, PreTrainedModel.init_weights
    with ThreadPoolExecutor(len(readers)) as threads:
        with library_alone(), no_init_weights():
            reading = [threads.submit(*reader) for reader in readers.items()]
            assert wait(reading, timeout=0.5).not_done == {*reading}
        assert all(one.result() for one in reading)
    assert before == (sys.stdin, torch.nn.init.kaiming_uniform_, PreTrainedModel.init_weights)
