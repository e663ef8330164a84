"""Students in Firefox's files: measurements with and without Bergamot, and tags before and after pruning."""

import gzip
import os
from pathlib import Path

import pytest
import torch

from tests.runtime.conftest import network, quantized
from tests.runtime.exports.students import texts
from tests.small_models import TEXT, make_vocabulary
from weebill.benchmarks.firefox import BERGAMOT, OURS, Entrant, measure, page, tags
from weebill.bleu import bleu
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.pruning.cut import cut
from weebill.pruning.even import Even
from weebill.quantization.files import section
from weebill.runtime.exports.marian.firefox import export
from weebill.runtime.text import load_runtime
from weebill.translation.model.packed_folder import save_any_model
from weebill_runtime.options import SearchOptions

SOURCES, REFERENCES = TEXT[::2], TEXT[1::2]
MODEL = "model.ende.intgemm.alphas.bin"
BERGAMOT_PYTHON = pytest.mark.skipif(
    "WEEBILL_BERGAMOT" not in os.environ,
    reason="WEEBILL_BERGAMOT names no Python with the wheel bergamot; `make opponents` makes one",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write a guided int8 student, one with fewer layers and neurons, and one with fewer heads."""
    base = tmp_path_factory.mktemp("students")
    vocabulary = make_vocabulary(base / "vocab.spm", size=64)
    for name in ("published", "even", "uneven"):
        model = network(inner=(128, 128, 128), tied=False, pieces=64)
        for module in model.modules():
            if isinstance(module, torch.nn.Linear) and module.out_features == 80:
                module.weight = torch.nn.Parameter(torch.randn(128, 64) / 8)
                module.bias = torch.nn.Parameter(torch.zeros(128))
            elif isinstance(module, torch.nn.Linear) and module.in_features == 80:
                module.weight = torch.nn.Parameter(torch.randn(64, 128) / 8)
        model.guided = True
        if name == "even":
            Even(1, 1, 0.5, criterion="magnitude").cut(None, model)
        elif name == "uneven":
            cut(model, heads={"encoder.1.self_attention": [0, 1]})
        model = quantized(model, "int8", texts=texts(9))
        save_any_model(base / name, model, vocabulary, {}, section("int8", "imported"))
        if name != "uneven":
            export(model, vocabulary, base / f"{name}.firefox", languages=("en", "de"))
    return base


def measured(made, python):
    entrants = [Entrant(name, str(made / f"{name}.firefox")) for name in ("published", "even")]
    entrants.append(Entrant("uneven", None, str(made / "uneven")))
    test_set = TestSet("test", SOURCES, REFERENCES)
    return measure(entrants, [test_set], python, rounds=1, bootstrap=20, target="de")


def test_our_engine_alone_without_bergamot(made):
    published, even, uneven = measured(made, made / "no-python")
    folder = made / "published.firefox"
    assert published["bytes"]["model"] == (folder / MODEL).stat().st_size
    packed = [
        gzip.compress((folder / name).read_bytes(), mtime=0) for name in (MODEL, "vocab.ende.spm")
    ]
    assert published["bytes"]["gzip"] == sum(map(len, packed))
    assert even["bytes"]["model"] < 0.6 * published["bytes"]["model"]
    assert "bytes" not in uneven and uneven["refusal"].startswith("Marian wants 4 heads of 16")
    for row, name in zip((published, even, uneven), ("published", "even", "uneven"), strict=True):
        assert "tags" not in row and row["engines"].keys() == {OURS}
        found = load_runtime(made / name).translate(SOURCES, SearchOptions())
        own, first = row["engines"][OURS], published["engines"][OURS]
        expected = bleu("de").corpus_score(found, [REFERENCES]).score
        assert own["scores"][0]["score"] == pytest.approx(expected)
        assert own["scores"][0]["difference"] == pytest.approx(
            expected - first["scores"][0]["score"]
        )
        assert own["slowest"] <= own["words_per_second"] <= own["fastest"]


@BERGAMOT_PYTHON
def test_bergamot_reads_the_same_files_and_keeps_tags(made):
    published, even, uneven = measured(made, Path(os.environ["WEEBILL_BERGAMOT"]))
    assert BERGAMOT not in uneven["engines"]
    for row in (published, even):
        assert row["engines"].keys() == {OURS, BERGAMOT}
        assert row["tags"]["kept"] == row["tags"]["lines"] == len(SOURCES)
    assert published["tags"]["same_page"] == published["tags"]["same_text"] == len(SOURCES)


def test_a_page_has_the_words_of_its_lines():
    lines = ["One & two < three four five six .", "One two", "One two three"]
    assert page(lines) == [
        '<p>One <b>&amp;</b> two <a href="#0">&lt; three</a> four five six <i>.</i></p>',
        "<p>One two</p>",
        "<p>One <b>two</b> <i>three</i></p>",
    ]
    assert tags(page(lines)[2]) == ["</b>", "</i>", "</p>", "<b>", "<i>", "<p>"]
