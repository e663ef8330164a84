"""Int8 folders: transformers' own loading, former names, types of tensors, and which files they replace."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    pipeline,
)
from transformers.pytorch_utils import Conv1D

from tests.generation.test_int8 import cut_model
from tests.hugging_face.small import GENERATORS, logits, small_batch, small_model
from tests.hugging_face.test_sizes import bart_large, gpt2_small, parameters, printed, without
from weebill.errors import InputError
from weebill.experiment.shares import part_of
from weebill.generation.int8 import load_int8, save_int8
from weebill.hugging_face.folder import load_model, save_model
from weebill.hugging_face.loading import pretrained_model
from weebill.hugging_face.t5 import TABLE


@pytest.mark.parametrize("family", GENERATORS)
def test_the_library_itself_refuses_the_folder(family, tmp_path):
    """The library would fill missing weights at random; configuration and tokenizer stay readable.

    Whole and cut models take turns from family to family.
    """
    whole, folder = small_model(family), tmp_path / "int8"
    words = Tokenizer(WordLevel({"<unk>": 0, "bird": 1}, unk_token="<unk>"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")
    model = cut_model(family) if GENERATORS.index(family) % 2 else whole
    save_int8(model, folder, tokenizer)
    kinds = [type(whole), AutoModel]
    kinds += [AutoModelForSeq2SeqLM if whole.config.is_encoder_decoder else AutoModelForCausalLM]
    for kind in kinds:
        with pytest.raises(ValueError, match=r"Weebill.*int8\.load_int8"):
            kind.from_pretrained(folder)
        with pytest.raises(OSError, match=r"no file named model\.safetensors"):
            kind.from_pretrained(folder, config=whole.config)
    with pytest.raises(ValueError, match=r"Weebill.*int8\.load_int8"):
        pipeline("text-generation", model=str(folder))
    config = AutoConfig.from_pretrained(folder)
    assert config.model_type == whole.config.model_type
    assert config.quantization_config["quant_method"] == "weebill-int8"
    assert AutoTokenizer.from_pretrained(folder)("bird")["input_ids"] == [1]
    loaded = load_int8(folder, "portable")
    assert not hasattr(loaded.config, "quantization_config")
    with pytest.raises(InputError, match="its weights are int8"):
        pretrained_model(kinds[-1], folder)


@pytest.mark.parametrize("entry", ["quantization", "quantization_config"])
def test_folders_under_old_and_new_names_are_read(entry, tmp_path):
    """Version 0.1.0 wrote `quantization` and model.safetensors; both forms give the same numbers."""
    folder = tmp_path / "int8"
    save_int8(small_model("bart"), folder)
    expected = load_int8(folder, "portable")
    if entry == "quantization":
        config = json.loads((folder / "config.json").read_text())
        section = config.pop("quantization_config")
        del config["transformers_weights"], section["quant_method"]
        (folder / "config.json").write_text(json.dumps({**config, entry: section}))
        (folder / "int8.safetensors").rename(folder / "model.safetensors")
    batch = small_batch("bart")
    found = load_int8(folder, "portable")
    assert torch.equal(logits(found, batch), logits(expected, batch))
    with pytest.raises(InputError, match="its weights are integers"):
        load_model(folder)
    with pytest.raises(InputError, match="its weights are int8"):
        pretrained_model(AutoModelForSeq2SeqLM, folder)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "int8"
    save_int8(small_model("bart"), folder)
    return folder


@pytest.mark.parametrize("end", ["codes", "scale", "bias"])
@pytest.mark.parametrize("kind", [torch.int64, torch.bool, torch.complex64, torch.float16])
def test_tensors_of_another_type_are_refused(end, kind, saved, tmp_path):
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "int8.safetensors"
    tensors = load_file(path)
    name = next(name for name in sorted(tensors) if name.endswith(f".{end}"))
    save_file({**tensors, name: tensors[name].to(kind)}, path)
    wanted = "I8" if end == "codes" else "F32"
    with pytest.raises(InputError) as caught:
        load_int8(tmp_path, "portable")
    assert f"{path}: tensor {name} is" in str(caught.value)
    assert f"expected {wanted}" in str(caught.value) and "\n" not in str(caught.value)


def int8_bytes(model):
    """Count the bytes: 1 per number and 4 per output of a matrix, and all bytes of other tensors."""
    total = 0
    for name, value in {
        id(v): (n, v) for n, v in model.state_dict(keep_vars=True).items()
    }.values():
        module, _, part = name.rpartition(".")
        if part == "weight" and value.dim() == 2 and value.numel() and TABLE not in name:
            transposed = isinstance(model.get_submodule(module), Conv1D)
            total += value.numel() + 4 * value.shape[1 if transposed else 0]
        else:
            total += value.nbytes
    return total


@pytest.mark.parametrize("family", GENERATORS)
def test_bytes_are_those_of_the_file(family, tmp_path):
    model = cut_model(family)
    save_int8(model, tmp_path / "int8")
    content = (tmp_path / "int8/int8.safetensors").read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    assert int8_bytes(model) == len(content) - header


@pytest.mark.parametrize(
    ("table", "name", "make", "heads", "neurons", "layers"),
    [
        ("5", "bart-large-cnn", bart_large, 0, 0, {}),
        ("6", "bart-large-cnn", bart_large, 16, 4096, {"encoder": 6, "decoder": 6}),
        ("7", "gpt2", gpt2_small, 12, 3072, {"decoder": 6}),
    ],
)
def test_smaller_than_the_papers(table, name, make, heads, neurons, layers):
    """TEXTGEN prints 0.58, 0.34 and 0.17 GiB; our files take a fourth of float32's size plus scales."""
    model = without(make, part_of(0.3, heads), part_of(0.6, neurons), **layers)
    size = int8_bytes(model) / 2**30
    assert 1 < size * 2**30 / parameters(model) < 1.015  # 0.38, 0.14 and 0.06 GiB
    row = printed("textgen_tables.csv", table=table, model=name, variant="quantized")
    assert size < float(row["size_gb"])


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_manuscript_is_not_deleted(tmp_path):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "manuscript.tex").write_text("three years")
    for save in (save_int8, lambda model, path: save_model(path, model)):
        with pytest.raises(InputError, match=r"thesis: holds 'manuscript\.tex', which would be"):
            save(small_model("bart"), folder)
    assert contents(folder) == {"manuscript.tex": b"three years"}


def test_an_earlier_model_is_replaced_but_no_other_programs(tmp_path):
    model, folder = small_model("gpt2"), tmp_path / "model"
    save_model(folder, model)
    save_int8(model, folder)  # the model does not come from this folder
    assert "quantization" in (folder / "config.json").read_text()
    save_int8(model, folder)
    model.save_pretrained(tmp_path / "theirs")
    before = contents(tmp_path / "theirs")
    with pytest.raises(InputError, match=r"holds 'config\.json', which Weebill did not write"):
        save_int8(model, tmp_path / "theirs")
    assert contents(tmp_path / "theirs") == before


def test_a_tokenizer_that_would_not_be_written_again_is_kept(tmp_path):
    model, tokenizer = small_model("gpt2"), Tokenizer(WordLevel({"<eos>": 0}, unk_token="<eos>"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>")
    save_int8(model, tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    with pytest.raises(InputError, match=r"holds 'tokenizer\.json', which would be deleted"):
        save_int8(model, tmp_path / "model")
    save_int8(model, tmp_path / "model", tokenizer)


@pytest.mark.parametrize("read", [load_model, GPT2LMHeadModel.from_pretrained, load_int8])
def test_the_folder_that_is_read_is_not_replaced(tmp_path, read, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, folder = small_model("gpt2"), tmp_path / "model"
    save_int8(model, folder) if read is load_int8 else save_model(folder, model)
    (tmp_path / "link").symlink_to(tmp_path)
    before = contents(folder)
    for source in ("model", "./model/", folder, "link/model"):
        found = read(source)
        for target in (folder, "model", "nothing/../model", "link/model"):
            with pytest.raises(InputError, match="is the folder the model was read from; name an"):
                save_int8(found, target)
    assert contents(folder) == before
    if read is not load_int8:
        save_int8(read("model"), "other")


def test_a_model_without_numbers_is_named(tmp_path):
    model = small_model("bart").to("meta")
    for save in (save_int8, lambda model, path: save_model(path, model)):
        with pytest.raises(InputError, match=r"has no numbers \(device `meta`\); read the model's"):
            save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_package_that_a_configuration_asks_for_is_named(tmp_path):
    save_int8(small_model("llama"), tmp_path / "int8")
    save_model(tmp_path / "float32", small_model("llama"))
    for name, load in (("int8", load_int8), ("float32", load_model)):
        path = tmp_path / name / "config.json"
        config = json.loads(path.read_text())
        path.write_text(json.dumps({**config, "_attn_implementation": "flash_attention_2"}))
        with pytest.raises(InputError, match="FlashAttention2"):
            load(tmp_path / name)
