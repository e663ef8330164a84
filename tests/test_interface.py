"""The Python interface: names of the package `weebill`, loaded on first use, as in the documents."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import weebill
from tests.generation.test_vocabulary import NARROW, model_of, tokenizer_of
from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from tests.small_models import TEXT, make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.metric.folder import load_metric
from weebill.rehearsal.making.translators import SENTENCES, make_marian

ROOT = Path(__file__).parents[1]
LOADED = (
    "import sys, weebill; dir(weebill); print(*{name.partition('.')[0] for name in sys.modules})"
)


def test_the_package_alone_needs_only_the_standard_library():
    done = subprocess.run([sys.executable, "-Sc", LOADED], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = {name for name in done.stdout.split() if not name.startswith("__")}
    assert loaded <= {"weebill", "sitecustomize", *sys.stdlib_module_names}


@pytest.mark.parametrize(
    ("name", "extra"), [("load", "train"), ("Scorer", "metric"), ("load_int8", "generation")]
)
def test_a_missing_package_is_named_with_its_extra(name, extra):
    script = f"import weebill; weebill.{name}"
    done = subprocess.run([sys.executable, "-Sc", script], cwd=ROOT, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert re.search(rf"weebill\.{name}: the Python module '\w+' is not installed here", last)
    assert f"pip install ./runtime '.[{extra}]'" in last


def test_the_stub_for_type_checkers_has_the_same_names():
    stub = ast.parse((ROOT / "weebill/__init__.pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    places = {
        alias.name: re.sub(r"^weebill\.", ".", node.module)
        for node in imports
        for alias in node.names
    }
    assert places == weebill._PLACES and set(weebill.__all__) == set(places) <= set(dir(weebill))
    assert weebill.InputError is InputError
    with pytest.raises(AttributeError, match="module 'weebill' has no attribute 'laod'"):
        weebill.laod  # noqa: B018


@pytest.fixture(scope="module")
def metric(tmp_path_factory):
    base = tmp_path_factory.mktemp("metric")
    return make_checkpoint(base / "metric", make_encoder(base / "encoder"))


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    base = tmp_path_factory.mktemp("student")
    return make_folder(base / "int8", make_vocabulary(base / "vocab.spm"))


def shown(page: str) -> list[str]:
    """Return the Python blocks of a page of the documents."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_what_the_documents_show_runs(student, metric, tmp_path, monkeypatch):
    """All blocks run in order, in a folder with small models under the documents' names."""
    for name, folder in (
        ("results/demo/models/demo.tiny/unpruned/int8", student),
        ("path/to/metric", metric),
    ):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    tokenizer = tokenizer_of("bart")
    made = {
        "model": model_of("bart", tokenizer),
        "tokenizer": tokenizer,
        "texts": NARROW,
        "article": NARROW[0],
        "articles": NARROW[:2],
    }
    saved, fast = shown("guides/int8-generators.md")
    exec(saved, made)
    exec(fast, made)
    [interface] = shown("reference/python.md")
    exec(interface, values := {})
    [alone] = shown("guides/deploy.md")
    exec(alone, student_alone := {})
    [scorer] = shown("guides/comet.md")
    exec(scorer, scored := {})
    assert len(student_alone["found"]) == 1 and len(scored["scores"]["one"]) == 1
    assert [type(line) for line in values["found"]] == [str, str]
    assert type(values["generator"]).__name__ == "BartForConditionalGeneration"


def test_a_scorer_takes_what_load_metric_takes(metric):
    found = weebill.Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    known = weebill.Scorer(load_metric(metric)).score(SYSTEMS, SOURCES, REFERENCES)
    assert all(np.array_equal(found[name], known[name]) for name in SYSTEMS)


def test_any_iterable_of_strings_is_text(student, metric):
    translator, scorer = weebill.load(student), weebill.Scorer(metric)
    known = translator.translate(TEXT)
    assert (
        translator.translate(line for line in TEXT) == translator.translate(np.array(TEXT)) == known
    )
    scores = translator.scores(pd.Series(TEXT), iter(known))
    assert scores.dtype == np.float64 and scores.shape == (len(TEXT),)
    listed = scorer.score(SYSTEMS, SOURCES, REFERENCES)["good"]
    drawn = scorer.score({"good": iter(SYSTEMS["good"])}, iter(SOURCES), iter(REFERENCES))["good"]
    assert np.array_equal(listed, drawn)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a line", "found 'a line', expected a list of strings"),
        (["a", None], "line 2 is None, expected a string; give '' for an empty line"),
        (pd.Series(["a", None, float("nan")]), "line 2 is "),
        (["a", 2.5], "line 2 is 2.5, expected a string"),
        (7, "found 7, expected a list of strings"),
    ],
)
def test_what_is_no_text_is_refused(student, metric, tmp_path, lines, message):
    foreign = make_marian(tmp_path / "marian")
    for translator in (weebill.load(student), weebill.load(foreign)):
        with pytest.raises(InputError, match=f"^sentences: {re.escape(message)}"):
            translator.translate(lines)
        with pytest.raises(InputError, match=f"^translations: {re.escape(message)}"):
            translator.scores(SENTENCES, lines)
    scorer = weebill.Scorer(metric)
    for given, name in (
        (({"one": lines}, SOURCES, REFERENCES), "one"),
        ((SYSTEMS, lines, REFERENCES), "sources"),
        ((SYSTEMS, SOURCES, lines), "references"),
    ):
        with pytest.raises(InputError, match=f"^{name}: {re.escape(message)}"):
            scorer.score(*given)


def test_systems_in_a_list_are_refused(metric):
    with pytest.raises(
        InputError, match=r"systems: found .*, expected a dictionary of lines by name"
    ):
        weebill.Scorer(metric).score([SYSTEMS["good"]], SOURCES, REFERENCES)


def test_numbers_of_lines_must_agree(student):
    with pytest.raises(InputError, match=r"^2 sentences but 1 translations; give one translation"):
        weebill.load(student).scores(TEXT[:2], TEXT[:1])
