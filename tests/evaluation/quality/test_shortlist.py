"""Coverage of a shortlist, compared with plain loops, and its cost for constructed translations."""

from dataclasses import asdict

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from tests.runtime.conftest import network
from tests.small_models import TEXT, make_vocabulary
from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.shortlist import coverage, measure_shortlist
from weebill.evaluation.quality.translation_quality import TestSet, resampled
from weebill.files import write_json
from weebill.kernels.extension import PORTABLE
from weebill.report.results import Results
from weebill.runtime.shortlist import save_shortlist
from weebill.runtime.translator import Runtime
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

PIECES = 40


def random_shortlist():
    draw = np.random.default_rng(2)
    candidates = draw.integers(-1, PIECES, (PIECES, 4)).astype(np.int32)
    return Shortlist(candidates, np.array([7, 9], np.int32))


def random_text(seed, count=30):
    draw = np.random.default_rng(seed)
    return [[*draw.integers(2, PIECES, draw.integers(0, 9)).tolist(), 0] for _ in range(count)]


def test_a_sentence_is_covered_by_its_own_columns():
    shortlist, sources = random_shortlist(), random_text(1)
    texts = random_text(2), random_text(3)
    held, total, columns = [0, 0], [0, 0], []
    for number, source in enumerate(sources):
        if source == [0]:
            continue
        allowed = {0, 1, 7, 9}
        for piece in source:
            allowed |= {candidate for candidate in shortlist.candidates[piece] if candidate >= 0}
        columns.append(len(allowed))
        for k, text in enumerate(texts):
            held[k] += sum(piece in allowed for piece in text[number][:-1])
            total[k] += len(text[number]) - 1
    found = coverage(shortlist, sources, *texts, SearchOptions(batch_size=1))
    assert found.columns == pytest.approx(np.mean(columns))
    assert (found.reference, found.own) == pytest.approx((held[0] / total[0], held[1] / total[1]))


def test_a_batch_shares_its_columns():
    shortlist, sources = random_shortlist(), random_text(1)
    full = [source for source in sources if source != [0]]
    every = {piece for source in full for piece in source}
    found = coverage(shortlist, full, full, full, SearchOptions(batch_size=len(full)))
    assert found.columns == len(shortlist.columns(every))
    single = coverage(shortlist, full, full, full, SearchOptions(batch_size=1))
    assert found.reference > single.reference and found.columns > single.columns


@pytest.mark.parametrize("crop", [3, 200])
def test_columns_are_those_of_the_search(crop):
    """The columns also agree for a source that is too long for the search."""
    shortlist, search = random_shortlist(), SearchOptions(batch_size=1, max_source_tokens=crop)
    source = [*np.random.default_rng(4).integers(2, PIECES, 290).tolist(), 0]
    runtime = Runtime([network(pieces=PIECES)], PORTABLE, shortlist)
    runtime.translate([source], search)
    found = coverage(shortlist, [source], [[5, 0]], [[5, 0]], search)
    assert found.columns == len(runtime.columns)
    assert found.own == float(5 in runtime.columns)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    return make_vocabulary(tmp_path_factory.mktemp("vocabulary") / "vocab.spm")


def measured(tmp_path, vocabulary, translations, without):
    every = np.arange(len(vocabulary), dtype=np.int32)
    save_shortlist(Shortlist(every[:, None], every, vocabulary.sha256), tmp_path / "shortlist")
    return measure_shortlist(
        Variant.parse("tiny/unpruned/int8"),
        TestSet("test", TEXT[::2] * 10, TEXT[1::2] * 10),
        tmp_path / "shortlist",
        vocabulary,
        translations,
        without,
        batch_size=4,
        bootstrap=100,
        target="de",
        model_sha256="c" * 64,
        seed=3,
    )


def test_the_cost_is_the_difference_to_the_whole_vocabulary(tmp_path, vocabulary):
    references = TEXT[1::2] * 10
    worse = [line.replace("Vogel", "Baum") for line in references]
    row = measured(tmp_path, vocabulary, worse, references)
    bleu, _ = resampled(BLEU(), worse, references, 100)
    assert row.bleu_without == pytest.approx(100)
    assert (row.bleu, row.low, row.high) == (bleu.score, bleu.low, bleu.high)
    assert row.bleu < 95 and row.p_value < 0.05
    assert row.unchanged == pytest.approx(2 / 3)
    assert row.single.columns == row.batched.columns == row.vocabulary == len(vocabulary)
    assert row.single.reference == row.batched.own == 1
    assert row.bytes == (tmp_path / "shortlist").stat().st_size
    write_json(tmp_path / "rows.json", [asdict(row)])
    results = Results.read({"kind": "translation"}, {"shortlists": [tmp_path / "rows.json"]})
    assert results.shortlists == [row]


def test_equal_translations_cost_nothing(tmp_path, vocabulary):
    row = measured(tmp_path, vocabulary, TEXT[1::2] * 10, TEXT[1::2] * 10)
    assert (row.bleu, row.p_value, row.unchanged) == (row.bleu_without, 1.0, 1.0)


def test_a_cropped_source_brings_no_columns_of_its_rest(tmp_path, vocabulary):
    """The measurement uses the batches and the crop of the search."""
    numbers = np.arange(len(vocabulary), dtype=np.int32)
    listed = Shortlist(numbers[:, None], np.array([2], np.int32), vocabulary.sha256)
    save_shortlist(listed, tmp_path / "shortlist")
    first, rest = "Vogel ", "Baum "
    row = measure_shortlist(
        Variant.parse("tiny/unpruned/int8"),
        TestSet("test", [first * 300 + rest * 50], ["Baum"]),
        tmp_path / "shortlist",
        vocabulary,
        ["Baum"],
        ["Baum"],
        batch_size=4,
        bootstrap=10,
        target="de",
        model_sha256="c" * 64,
        seed=3,
    )
    read = vocabulary.encode([first * 300])[0]
    assert row.single.columns == row.batched.columns == len(listed.columns(read))


def test_translations_of_another_count_are_refused(tmp_path, vocabulary):
    with pytest.raises(InputError, match="without a shortlist: 29 translations for 30"):
        measured(tmp_path, vocabulary, TEXT[1::2] * 10, (TEXT[1::2] * 10)[:-1])
    with pytest.raises(InputError, match="29 translations for 30"):
        measured(tmp_path, vocabulary, (TEXT[1::2] * 10)[:-1], TEXT[1::2] * 10)
