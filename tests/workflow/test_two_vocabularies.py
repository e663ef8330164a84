"""An experiment from English to Japanese with two vocabularies, through all stages that read a vocabulary."""

from collections import Counter

import pytest
import yaml

from tests.workflow.running import TINY, TRANSLATION, report_is_whole, snakemake
from weebill.commands.compare import compare
from weebill.runtime.exports.marian.conversion import import_model
from weebill.runtime.exports.verification import in_float32
from weebill.runtime.text import load_runtime
from weebill.text_files import read_lines
from weebill.translation.model.folder import load_model
from weebill.translation.model.packed_folder import load_any_model
from weebill.translation.search import greedy
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

STUDENT = "models/demo.micro"
OPTIONS = SearchOptions(batch_size=8)
CHARACTERS = 250  # few Japanese characters, for a small vocabulary


@pytest.fixture
def config(tmp_path, real_text):
    """Write the smallest experiment with Tatoeba's text, back-translation, guided alignment and an export."""
    texts = [real_text(f"train/tatoeba_test.eng-jpn.{side}") for side in ("eng", "jpn")]
    pairs = list(zip(*map(read_lines, texts), strict=True))
    common = {c for c, _ in Counter("".join(b for _, b in pairs)).most_common(CHARACTERS)}
    pairs = [pair for pair in pairs if common.issuperset(pair[1])]
    parts = {"train": pairs[:1800], "valid": pairs[1800:1830], "test": pairs[1830:1850]}
    for name, part in parts.items():
        for side, lines in zip(("en", "ja"), zip(*part, strict=True), strict=True):
            (tmp_path / f"{name}.{side}").write_text("".join(f"{line}\n" for line in lines))
    only = [target for _, target in pairs[1850:2150]]
    (tmp_path / "only.ja").write_text("".join(f"{line}\n" for line in only))

    config = yaml.safe_load(TINY.read_text())
    files = {
        name: {"importer": "files", "source": f"{name}.en", "target": f"{name}.ja"}
        for name in parts
    }
    config |= {
        "languages": {"source": "en", "target": "ja"},
        "corpora": {
            "train": files["train"],
            "only": {"importer": "files", "use": "monolingual-target", "target": "only.ja"},
        },
        "validation": files["valid"],
        "test_sets": {"test": files["test"]},
        "cleaning": {},
        "vocabulary": {"joint": False, "size": 600, "source_size": 420},
        "pruning": {"steady": config["pruning"]["steady-i2"]},
        "quantization": {**config["quantization"], "int8": {}},
        "variants": ["*/unpruned/*", "*/steady/*"],
        "exports": {"marian": ["*/steady/int8"], "onnx": ["*/unpruned/float32"]},
        "report": {},
    }
    config["teacher"] |= {"members": 1, "back_translated": True}
    speaks = {**config["teacher"]["training"], "updates": 160, "validate_every": 80}
    config["teacher"]["training"] = speaks
    config["reverse_teacher"] = {"architecture": "demo.micro", "training": speaks}
    config["back_translation"] = {"scores": {"reverse_model": {"cut": {"percent": 10}}}}
    config["distillation"]["max_repeats"] = 0  # the teacher loops
    config["training"] |= {"updates": 40, "guided_alignment": 0.1}
    del config["evaluation"]["mbr"]
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True))
    return tmp_path / "config.yaml"


@pytest.mark.workflows
def test_all_stages_read_both_vocabularies(tmp_path, config):
    run = snakemake(tmp_path, config, "--cores", "1", imported=TRANSLATION)
    assert run.returncode == 0, run.stdout
    results, sentences = tmp_path / "results/tiny", (tmp_path / "test.en").read_text().splitlines()
    assert report_is_whole(results)
    assert {path.name for path in (results / "vocabulary").iterdir()} == {"420-600"}
    assert {path.name for path in (results / "scoring/vocabulary").iterdir()} == {"600-420"}
    reverse = load_model(results / "reverse_teacher/member-0").network.architecture
    assert reverse.sizes == (420, 600)

    model = load_model(results / STUDENT / "steady/float32")
    assert model.network.architecture.sizes == (600, 420) == model.vocabulary.sizes
    made = results / "shortlist/420-600/shortlist.safetensors"
    Shortlist.load(made, model.vocabulary.sizes, model.vocabulary.sha256)
    for recipe in ("unpruned", "steady"):
        for precision in ("float32", "int8", "log4"):
            found = compare(results / STUDENT / recipe / precision, sentences)
            assert found["identical"] + found["ties"] == len(sentences) == 20
    quick = load_runtime(results / STUDENT / "steady/int8", shortlist=made)
    assert all(isinstance(text, str) for text in quick.translate(sentences, OPTIONS))

    marian = results / "exports/demo.micro/steady/int8/marian"
    files = marian / "vocab.spm", tmp_path / "imported", marian / "source.spm"
    import_model(marian / "model.npz", *files)
    imported = load_model(tmp_path / "imported")
    plain = in_float32(load_any_model(results / STUDENT / "steady/int8").network)
    sources = imported.vocabulary.source.encode(sentences)
    assert greedy([imported.network], sources, OPTIONS) == greedy([plain], sources, OPTIONS)
