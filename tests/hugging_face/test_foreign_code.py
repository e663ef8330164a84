"""Model folders are data: code that they contain or name is refused in one line, and never runs."""

import ast
import io
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.hugging_face.test_loading import refusal
from tests.metric.small import make_checkpoint, make_encoder
from weebill.__main__ import main
from weebill.configuration.checking import unfit_models
from weebill.generation.models import load_generator
from weebill.hugging_face.foreign_code import refuse_code
from weebill.metric.folder import load_metric, save_metric
from weebill.rehearsal.making.translators import make_marian
from weebill.translation.loading import load_translator
from weebill.translation.model.hugging_face_folder import check_folder

ROOT = Path(__file__).parents[2]
CODE = """
from pathlib import Path
Path(r"{marker}").touch()
from transformers import PretrainedConfig
class Evil(PretrainedConfig):
    model_type = "evil"
"""
CONFIG, TOKENIZER = "config.json", "tokenizer_config.json"
AUTO = {"AutoConfig": "evil.Evil", "AutoModelForSeq2SeqLM": "evil.Evil"}
AUTO |= {"AutoModel": "evil.Evil", "AutoModelForCausalLM": "evil.Evil"}
# (file, entries added to it, text that the error line must contain)
EVIL = {
    "a type and its code": (CONFIG, {"model_type": "evil", "auto_map": AUTO}, "auto_map"),
    "code beside a known type": (CONFIG, {"auto_map": AUTO}, "auto_map"),
    "code of the hub": (CONFIG, {"auto_map": {"AutoConfig": "some/one--evil.Evil"}}, "auto_map"),
    "a tokenizer": (TOKENIZER, {"auto_map": {"AutoTokenizer": ["evil.Evil", None]}}, "auto_map"),
    "an old tokenizer": (TOKENIZER, {"auto_map": ["evil.Evil", "evil.Evil"]}, "auto_map"),
    "a processor": ("processor_config.json", {"auto_map": {"AutoProcessor": "evil.Evil"}}, "auto_"),
    "a part": (CONFIG, {"text_config": {"auto_map": AUTO}}, "text_config.auto_map"),
    "settings": ("generation_config.json", {"auto_map": AUTO}, "auto_map"),
    "another version": ("config.4.0.0.json", {"auto_map": AUTO}, "config.4.0.0.json: auto_map"),
    "a kernel": (CONFIG, {"attn_implementation": "some/one"}, "attn_implementation names"),
    "weights elsewhere": (CONFIG, {"transformers_weights": "../x.safetensors"}, "expected a file"),
    "a pickle": (CONFIG, {"transformers_weights": "adapter_model.bin"}, "expected a file"),
    "an adapter": ("adapter_config.json", {"base_model_name_or_path": "some/one"}, "adapter"),
    "a part's pickle": (
        "model.safetensors.index.json",
        {"weight_map": {"x": "pytorch_model.bin"}},
        "weight_map.x",
    ),
}
TYPES = {
    "an unknown type": (CONFIG, {"model_type": "evil"}, "model_type 'evil'"),
    "an unknown part": (CONFIG, {"decoder": {"model_type": "evil"}}, "decoder.model_type 'evil'"),
    "an unknown tokenizer": (TOKENIZER, {"tokenizer_class": "Evil"}, "tokenizer_class 'Evil'"),
    "no tokenizer": (TOKENIZER, {"tokenizer_class": "AutoModel"}, "tokenizer_class 'AutoModel'"),
    "a list": (TOKENIZER, {"tokenizer_class": ["Evil"]}, "tokenizer_class"),
}


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    return make_marian(tmp_path_factory.mktemp("marian"))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoders") / "small")


@pytest.fixture
def spoil(tmp_path, monkeypatch):
    """Copy a folder and add entries and code to it; check afterwards that no code ran and no input is missing."""
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    text = "1\ny\nHello.\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    marker = tmp_path / "ran"

    def make(folder: Path, name: str, entries: dict) -> Path:
        copy = tmp_path / "evil"
        shutil.copytree(folder, copy)
        (copy / "evil.py").write_text(CODE.format(marker=marker))
        path = copy / name
        values = json.loads(path.read_text()) if path.is_file() else {}
        path.write_text(json.dumps({**values, **entries}))
        return copy

    yield make
    assert not marker.exists()
    assert sys.stdin.read() == text


@pytest.mark.parametrize(("name", "entries", "told"), (EVIL | TYPES).values(), ids=EVIL | TYPES)
def test_no_loader_takes_code_of_a_folder(spoil, marian, name, entries, told):
    """The loaders are those of translation, the check of teachers, and generation."""
    folder = spoil(marian, name, entries)
    for call, *more in ((load_translator,), (load_generator,), (check_folder, ("en", "de"))):
        message = refusal(call, folder, *more)
        assert message.startswith(f"{folder}/{name}: ") and told in message


@pytest.mark.parametrize("kind", ["a type and its code", "a tokenizer", "an unknown type"])
def test_the_command_ends_with_one_line(spoil, marian, capfd, kind):
    name, entries, told = EVIL[kind] if kind in EVIL else TYPES[kind]
    folder = spoil(marian, name, entries)
    capfd.readouterr()
    assert main(["translate", str(folder)]) == 1
    output, error = capfd.readouterr()
    assert output == "" and error.count("\n") == 1
    assert f"{folder}/{name}: " in error and told in error


@pytest.mark.parametrize(("name", "entries", "told"), EVIL.values(), ids=EVIL)
def test_no_metric_takes_code_of_a_folder(spoil, encoder, tmp_path, name, entries, told):
    """The code is in an encoder that hyperparameters name, in one of --encoder, or in a metric's own folder."""
    folder = spoil(encoder, name, entries)
    checkpoint = make_checkpoint(tmp_path / "good", encoder)
    assert told in refusal(load_metric, checkpoint, folder)
    shutil.rmtree(checkpoint / "encoder", ignore_errors=True)
    hparams = checkpoint / "hparams.yaml"
    hparams.write_text(hparams.read_text().replace(str(encoder), str(folder)))
    metric = tmp_path / "metric"
    save_metric(metric, load_metric(checkpoint, encoder), {})
    path = metric / name
    values = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps({**values, **entries}))
    assert told in refusal(load_metric, metric)


def test_the_start_of_a_workflow_names_the_key(spoil, marian):
    folder = spoil(marian, CONFIG, {"auto_map": AUTO})
    section = {"by": "hugging_face", "hugging_face": str(folder)}
    models = {"models": {"m": section}, "pipelines": [], "steps": {}}
    generation = {"kind": "generation", "data": {}, **models}
    (line,) = unfit_models(generation)
    assert line.startswith(f"models.m.hugging_face: {folder}/config.json: auto_map names code")
    section["hugging_face"] = str(marian)
    assert unfit_models(generation) == []


def test_a_piece_may_be_called_as_code_is(spoil, marian):
    folder = spoil(marian, "added_tokens.json", {"auto_map": 7, "model_type": 8})
    refuse_code(folder)


def test_nothing_else_asks_the_library_to_read():
    """The library, the scripts and the rules have no other caller, and no consent to remote code."""
    found = []
    for path in sorted(ROOT.glob("weebill/**/*.py")) + sorted(
        ROOT.glob("workflow_scripts/**/*.py")
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if reads := _reads(node):
                found.append((path.relative_to(ROOT).as_posix(), reads))
    assert found
    assert {path for path, _ in found} == {"weebill/hugging_face/loading.py"}
    assert {reads for _, reads in found} == {"from_pretrained"}
    pattern = r"from_pretrained|\bpipeline\(|AutoModel|torch\.hub|trust_remote_code"
    for path in [ROOT / "Snakefile", *ROOT.glob("rules/**/*.smk")]:
        assert not re.search(pattern, path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    "source",
    [
        "transformers.AutoTokenizer.from_pretrained(folder)",
        "read = AutoModel.from_pretrained",
        "getattr(AutoModel, 'from_pretrained')(folder)",
        "AutoModelForCausalLM.from_config(config)",
        "pipeline('translation', model=folder)",
        "transformers.pipeline(model=folder)",
        "torch.hub.load('some/one', 'x')",
        "load(folder, trust_remote_code=True)",
        "options = {'trust_remote_code': True}",
    ],
)
def test_other_ways_to_read_are_found(source):
    assert any(map(_reads, ast.walk(ast.parse(source))))


def _reads(node: ast.AST) -> str | None:
    """Return the names by which a node has the library read, or consents to code."""
    if isinstance(node, ast.keyword) and node.arg == "trust_remote_code":
        refused = isinstance(node.value, ast.Constant) and node.value.value is False
        return None if refused else "trust_remote_code"
    attribute = node.attr if isinstance(node, ast.Attribute) else None
    if attribute == "from_pretrained":
        return "from_pretrained"
    if attribute == "from_config" and any(name.startswith("Auto") for name in _names(node)):
        return "from_config"
    if (attribute == "hub" and "torch" in _names(node)) or attribute == "load_custom_generate":
        return "torch.hub"
    called = node.func if isinstance(node, ast.Call) else None
    if getattr(called, "id", None) == "pipeline" or getattr(called, "attr", None) == "pipeline":
        return "pipeline"
    if isinstance(node, ast.Constant) and node.value in ("from_pretrained", "trust_remote_code"):
        return str(node.value)  # for getattr, or among keywords
    return None


def _names(node: ast.AST) -> list[str]:
    """Return the names in an expression."""
    return [getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(node)]
