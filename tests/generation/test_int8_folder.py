"""Int8 folders: transformers' own reading of them, former names, and types of tensors."""

import json

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
    PreTrainedTokenizerFast,
    pipeline,
)

from tests.hugging_face.small import GENERATORS, logits, small_batch, small_model
from weebill.errors import InputError
from weebill.generation.int8 import load_int8, save_int8
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model
from weebill.hugging_face.loading import pretrained_model
from weebill.pruning.cut import cut


def _cut(family):
    """Cut one head of an attention and some neurons of a feed-forward block."""
    model = small_model(family)
    view = prunable(model)
    heads, neurons = view.attention_blocks()[0].name, view.feed_forward_blocks()[0].name
    cut(view, {heads: range(1)}, {neurons: range(5)})
    return model


@pytest.mark.parametrize("family", GENERATORS)
def test_the_library_itself_refuses_the_folder(family, tmp_path):
    """It would fill missing weights at random; configuration and tokenizer stay readable."""
    whole = small_model(family)
    words = Tokenizer(WordLevel({"<unk>": 0, "bird": 1}, unk_token="<unk>"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")
    for name, model in (("whole", whole), ("cut", _cut(family))):
        folder = tmp_path / name
        save_int8(model, folder, tokenizer)
        kinds = [type(whole), AutoModel]
        kinds += [
            AutoModelForSeq2SeqLM if whole.config.is_encoder_decoder else AutoModelForCausalLM
        ]
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
    """Version 0.1.0 wrote `quantization` and model.safetensors; both give the same numbers."""
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


@pytest.mark.parametrize("end", ["codes", "scale", "bias"])
@pytest.mark.parametrize("kind", [torch.int64, torch.bool, torch.complex64, torch.float16])
def test_tensors_of_another_type_are_refused(end, kind, tmp_path):
    save_int8(small_model("bart"), tmp_path)
    path = tmp_path / "int8.safetensors"
    tensors = load_file(path)
    name = next(name for name in sorted(tensors) if name.endswith(f".{end}"))
    save_file({**tensors, name: tensors[name].to(kind)}, path)
    wanted = "I8" if end == "codes" else "F32"
    with pytest.raises(InputError) as caught:
        load_int8(tmp_path, "portable")
    assert f"{path}: tensor {name} is" in str(caught.value)
    assert f"expected {wanted}" in str(caught.value) and "\n" not in str(caught.value)
