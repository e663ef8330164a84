"""Cropped sentences are reported with their position and length in every kind of translation."""

import logging
import math

import numpy as np
import pytest
import sentencepiece

from tests.small_models import TEXT, make_folder, make_vocabulary
from weebill.kernels.extension import PORTABLE
from weebill.rehearsal.making.translators import SHAPE, make_marian, make_mbart
from weebill.runtime.text import load_runtime
from weebill.translation.loading import load_translator
from weebill_runtime.options import Cut, Sampling, SearchOptions, find_cuts, log_cut_count

SHORT = {"max_source_tokens": 40, "length_factor": 0.0}
WAYS = {
    "greedy": SearchOptions(**SHORT),
    "beam": SearchOptions(beam=3, **SHORT),
    "one by one": SearchOptions(batch_size=1, **SHORT),
    "sampling": SearchOptions(nbest=2, sampling=Sampling(), **SHORT),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    vocabulary = make_vocabulary(base / "vocab.spm")
    return [make_folder(base / str(seed), vocabulary, seed) for seed in (0, 1)]


def by_sentencepiece(folder, lines, most):
    """Return the crops, as counted by SentencePiece itself."""
    own = sentencepiece.SentencePieceProcessor(model_file=str(folder / "vocab.spm"))
    counts = enumerate(map(len, own.encode(lines)))
    return [Cut(row, pieces, most) for row, pieces in counts if pieces > most]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ["pytorch", "ensemble", "runtime", "two threads"])
def test_every_way_reports_what_it_cuts(models, engine, way):
    lines = [TEXT[0], f"{TEXT[1]} {TEXT[2]}", "", TEXT[3], " ".join(TEXT)]
    expected = by_sentencepiece(models[0], lines, 40)
    assert 2 <= len(expected) < len(lines)
    translator = {
        "pytorch": lambda: load_translator(models[0]),
        "ensemble": lambda: load_translator(models),
        "runtime": lambda: load_runtime(models[0]),
        "two threads": lambda: load_runtime(models, PORTABLE, threads=2),
    }[engine]()
    found: list[Cut] = []
    translator.on_cut = found.append
    options = WAYS[way]
    call = translator.nbest if options.sampling else translator.translate
    assert len(call(lines, options)) == len(lines)
    assert found == expected


def test_the_default_is_a_warning_with_the_line(models, caplog):
    lines = [TEXT[0], " ".join(TEXT)]
    (cut,) = by_sentencepiece(models[0], lines, 60)
    with caplog.at_level(logging.WARNING):
        load_translator(models[0]).translate(lines, SearchOptions(max_source_tokens=60))
    assert caplog.messages == [f"sentence 2: {cut.pieces} pieces, cut to the first 60"]


@pytest.mark.parametrize(
    "values",
    [
        {"beam": 2.5},
        {"beam": None},
        {"nbest": 1.0},
        {"batch_size": "32"},
        {"batch_tokens": None},
        {"max_source_tokens": 0},
        {"length_factor": math.nan},
        {"length_factor": math.inf},
        {"length_constant": 1.5},
    ],
)
def test_numbers_that_no_search_has_are_refused(values):
    ((name, value),) = values.items()
    with pytest.raises(ValueError, match=f"{name} must be a .* not .*{value!r}"):
        SearchOptions(**values)


def test_whole_numbers_of_numpy_are_options():
    assert SearchOptions(beam=np.int64(2), batch_size=np.int32(4)).beam == 2


def test_a_text_that_is_translated_often_is_counted_in_one_line(caplog):
    sources = [[5] * length + [0] for length in (7, 8, 9, 0, 30)]
    with caplog.at_level(logging.WARNING):
        for some in (sources, sources[:2]):
            cuts = find_cuts(some, SearchOptions(max_source_tokens=8))
            log_cut_count("validation", len(cuts), len(some), 8)
    assert caplog.messages == [
        "validation: 2 of 5 sentences have more than 8 pieces, cut to the first 8"
    ]


@pytest.mark.parametrize("make", [make_marian, make_mbart])
@pytest.mark.parametrize("beam", [1, 2])
def test_a_hugging_face_model_reads_to_its_last_position(tmp_path, monkeypatch, make, beam):
    """The model has 64 positions; more in source or translation would raise IndexError."""
    monkeypatch.setitem(SHAPE, "max_position_embeddings", 64)
    languages = None if make is make_marian else ("en_XX", "de_DE")
    translator = load_translator(make(tmp_path / "model"), languages=languages)
    found: list[Cut] = []
    translator.on_cut = found.append
    assert translator.positions == 64
    line = "the bird sings in the old tree " * 10
    count = len(translator._tokenizer(line, verbose=False)["input_ids"])
    options = SearchOptions(beam=beam, max_source_tokens=3000)
    (translation,) = translator.nbest([line], options)[0]
    assert count > 64 and found == [Cut(0, count, 64)]
    assert len(translation.pieces) < 64 < math.ceil(1.5 * 64) + 10
