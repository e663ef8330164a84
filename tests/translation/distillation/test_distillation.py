"""Shards, resuming and merging, compared with the whole corpus."""

import itertools
import logging
import os
import signal
import time
from dataclasses import replace
from threading import Barrier, Lock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.forking import fork
from weebill.corpus.table import ShardWriter, read_columns
from weebill.errors import InputError
from weebill.translation.distillation.decoding import translate_shard
from weebill.translation.distillation.merging import Translated, join, merge
from weebill.translation.distillation.shards import NBEST_SCHEMA, shard_bounds, write_shard
from weebill_runtime.options import Cut, SearchOptions
from weebill_runtime.text_translator import Hypothesis, TextTranslator

SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("target", pa.string()),
        ("corpus", pa.string()),
        ("row", pa.int64()),
        ("dropped_by", pa.string()),
        ("weight", pa.float64()),
    ]
)


SEARCH = SearchOptions(beam=3, nbest=3)


class Echo(TextTranslator):
    """Teacher whose hypotheses depend only on the sentence; it counts its sentences."""

    def __init__(self, stop_after: int | None = None) -> None:
        self._seen, self.stop_after = [], stop_after

    @property
    def translated(self) -> int:
        return len(self._seen)

    def piece_counts(self, sentences):
        return list(map(len, sentences))

    def _score_pairs(self, sentences, translations, options):
        raise NotImplementedError

    def nbest(self, sentences, options, progress=None):
        if self.stop_after is not None and self.translated >= self.stop_after:
            raise KeyboardInterrupt
        self._seen += sentences
        return [
            [Hypothesis(f"{text} {rank}".strip(), -0.5 - rank, ()) for rank in range(options.nbest)]
            if text != "mute"
            else [Hypothesis("", 0.0, ())]
            for text in sentences
        ]


def make_corpus(path, name="news", rows=23, parallel=True):
    """Write a folder of shards with dropped rows between kept rows."""
    with ShardWriter(path, SCHEMA, shard_rows=7) as writer:
        sources = [f"satz {i}" if i != 4 else "mute" for i in range(rows)]
        writer.write(
            pa.table(
                {
                    "source": sources,
                    "target": pa.array(
                        [f"satz {i} {i % 3}" if parallel else None for i in range(rows)],
                        pa.string(),
                    ),
                    "corpus": [name] * rows,
                    "row": range(100, 100 + rows),
                    "dropped_by": pa.array(
                        ["ratio" if i % 5 == 2 else None for i in range(rows)], pa.string()
                    ),
                    "weight": [i / 10 for i in range(rows)],
                },
                schema=SCHEMA,
            )
        )
    return path


def split_corpus(corpus, shards, parallel, side="source"):
    """Write all shards of a corpus for the teacher."""
    for number, path in enumerate(shards):
        write_shard(corpus, path, number, len(shards), parallel, side)


def distil(tmp_path, corpus, shards=3, parallel=True, name="news"):
    """Split and translate a corpus; return the paths of the n-best tables."""
    parts = [tmp_path / name / "split" / f"shard-{i}.parquet" for i in range(shards)]
    split_corpus(corpus, parts, parallel)
    outputs = [tmp_path / name / f"shard-{i}.parquet" for i in range(shards)]
    search = SearchOptions(beam=4, nbest=3 if parallel else 1)
    for part, output in zip(parts, outputs, strict=True):
        translate_shard(part, output, Echo(), search, {}, chunk_rows=4)
    return outputs


@pytest.mark.parametrize(("rows", "shards"), [(0, 3), (1, 3), (7, 3), (100, 7), (12, 12)])
def test_row_i_is_in_shard_i_shards_over_rows(rows, shards):
    bounds = shard_bounds(rows, shards)
    assert bounds[0] == 0 and bounds[-1] == rows
    for shard in range(shards):
        for row in range(bounds[shard], bounds[shard + 1]):
            assert row * shards // rows == shard


@pytest.mark.parametrize("shards", [1, 3, 30])
def test_distilled_corpus_is_the_corpus_with_selected_translations(tmp_path, shards):
    """For parallel text the hypothesis that equals the reference is selected, for monolingual text the first."""
    parallel = make_corpus(tmp_path / "c1")
    stories = make_corpus(tmp_path / "c2", "stories", rows=9, parallel=False)
    parts = [
        Translated(parallel, distil(tmp_path, parallel, shards)),
        Translated(stories, distil(tmp_path, stories, shards, parallel=False, name="stories")),
    ]
    counts = merge(parts, tmp_path / "training.parquet")
    assert counts["empty"] == 2
    rows = pq.read_table(tmp_path / "training.parquet").to_pylist()
    expected = [
        {
            "source": f"satz {i}",
            "target": f"satz {i} {i % 3 if corpus == 'news' else 0}",
            "corpus": corpus,
            "row": 100 + i,
            "weight": i / 10,
        }
        for corpus, count in (("news", 23), ("stories", 9))
        for i in range(count)
        if i % 5 != 2 and i != 4
    ]
    assert rows == expected


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_translation_that_stutters_is_left_out(tmp_path, side):
    """Loops of a teacher are left out; repetitions that the source has too stay."""
    texts = ["das Haus ist alt", "nein nein nein nein", "geh weg"]
    other = "target" if side == "source" else "source"
    columns = {side: texts, other: [None] * 3, "corpus": ["c"] * 3, "row": range(3)}
    columns["dropped_by"] = pa.nulls(3, pa.string())
    columns["weight"] = pa.nulls(3, pa.float64())
    pq.write_table(pa.table({n: columns[n] for n in SCHEMA.names}, SCHEMA), tmp_path / "c.parquet")
    found = [["the house house house house."], ["no no no no"], ["go away go away go away"]]
    shard = {"corpus": ["c"] * 3, "row": range(3), "source": texts, "hypotheses": found}
    shard |= {"target": [None] * 3, "scores": [[0.0]] * 3, "selected": [0] * 3}
    names = NBEST_SCHEMA.names
    pq.write_table(pa.table({n: shard[n] for n in names}, NBEST_SCHEMA), tmp_path / "s.parquet")
    part = Translated(tmp_path / "c.parquet", [tmp_path / "s.parquet"], side)
    for most, left in ((3, 2), (2, 1), (0, 3)):
        counts = merge([part], tmp_path / "out.parquet", max_repeats=most)
        assert counts == {"read": 3, "written": left, "empty": 0, "repetitive": 3 - left}


def test_text_translated_back_and_forward_again(tmp_path):
    """Translations of target-side text become sources, and a corpus for the teacher."""
    german = make_corpus(tmp_path / "c", rows=9, parallel=False)
    for shard in german.iterdir():
        table = pq.read_table(shard)
        swapped = {"source": "target", "target": "source"}
        table = table.rename_columns([swapped.get(name, name) for name in table.column_names])
        pq.write_table(table.select(SCHEMA.names), shard)
    back, forward = tmp_path / "back.parquet", tmp_path / "forward.parquet"
    search = SearchOptions(beam=1, nbest=1)
    for number, (corpus, side, output) in enumerate(
        [(german, "target", back), (back, "source", forward)]
    ):
        parts = [tmp_path / f"{number}-{i}.parquet" for i in range(2)]
        shards = [tmp_path / f"{number}-{i}.nbest.parquet" for i in range(2)]
        split_corpus(corpus, parts, parallel=False, side=side)
        for part, shard in zip(parts, shards, strict=True):
            translate_shard(part, shard, Echo(), search, {})
        counts = merge([Translated(corpus, shards, side)], output)
        empty = {"empty": 1 - number, "repetitive": 0}
        assert counts == {"read": 7 - number, "written": 6, **empty}
    kept = [i for i in range(9) if i % 5 != 2 and i != 4]
    for path, texts in (
        (back, [(f"satz {i} 0", f"satz {i}") for i in kept]),
        (forward, [(f"satz {i} 0", f"satz {i} 0 0") for i in kept]),
    ):
        rows = pq.read_table(path).to_pylist()
        assert [(row["source"], row["target"]) for row in rows] == texts
        assert [row["row"] for row in rows] == [100 + i for i in kept]
        assert [row["weight"] for row in rows] == [i / 10 for i in kept]


def test_a_killed_shard_goes_on_to_the_same_bytes(tmp_path):
    """The shard is interrupted once in every chunk; finished chunks are not translated again."""
    corpus = make_corpus(tmp_path / "c")
    shard = tmp_path / "shard.parquet"
    split_corpus(corpus, [shard], parallel=True)
    undisturbed = tmp_path / "whole.parquet"
    translate_shard(shard, undisturbed, Echo(), SEARCH, {}, chunk_rows=4)
    output, translated = tmp_path / "resumed.parquet", 0
    for stop_after in (0, 4, 8, 4):
        teacher = Echo(stop_after)
        with pytest.raises(KeyboardInterrupt):
            translate_shard(shard, output, teacher, SEARCH, {}, chunk_rows=4)
        assert not output.exists()
        translated += teacher.translated
    teacher = Echo()
    translate_shard(shard, output, teacher, SEARCH, {}, chunk_rows=4)
    assert translated + teacher.translated == 18
    assert output.read_bytes() == undisturbed.read_bytes()
    assert not (tmp_path / "resumed.parquet.work").exists()


@pytest.mark.parametrize("shareable", [False, True])
def test_selection_beside_the_search_makes_the_same_bytes(tmp_path, shareable):
    """Threads search next chunks, by turns if the translator is not shareable, and processes select hypotheses."""
    corpus = make_corpus(tmp_path / "c")
    shard = tmp_path / "shard.parquet"
    split_corpus(corpus, [shard], parallel=True)
    translate_shard(shard, tmp_path / "one.parquet", Echo(), SEARCH, {}, chunk_rows=4)

    class Met(Echo):
        """Teacher that is in two chunks at once if it may, and fails if it may not."""

        within, both, calls = Lock(), Barrier(2), itertools.count()

        def nbest(self, sentences, options, progress=None):
            if not shareable:
                assert self.within.acquire(blocking=False)
                time.sleep(0.05)
                self.within.release()
            elif next(self.calls) < 2:  # a third call would wait for a fourth
                self.both.wait(30)
            return super().nbest(sentences, options, progress)

    teacher = Met()
    teacher.shareable = shareable
    translate_shard(shard, tmp_path / "three.parquet", teacher, SEARCH, {}, chunk_rows=4, workers=2)
    assert teacher.translated == 18
    assert (tmp_path / "three.parquet").read_bytes() == (tmp_path / "one.parquet").read_bytes()


class Deadly(Echo):
    """Teacher that kills its own process, like `kill -9`, after a number of sentences."""

    def nbest(self, sentences, options, progress=None):
        if self.translated >= self.stop_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().nbest(sentences, options, progress)


def test_a_shard_killed_with_sigkill_resumes(tmp_path):
    corpus = make_corpus(tmp_path / "c")
    shard, output = tmp_path / "shard.parquet", tmp_path / "killed.parquet"
    split_corpus(corpus, [shard], parallel=True)
    translate_shard(shard, tmp_path / "whole.parquet", Echo(), SEARCH, {}, chunk_rows=4)
    killed = fork(lambda: translate_shard(shard, output, Deadly(8), SEARCH, {}, chunk_rows=4))
    killed.join()
    assert killed.exitcode == -signal.SIGKILL and not output.exists()
    teacher = Echo()
    translate_shard(shard, output, teacher, SEARCH, {}, chunk_rows=4)
    assert teacher.translated == 18 - 8
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not list(tmp_path.glob("*.work")) and not list(tmp_path.glob(".*"))


def test_chunks_of_another_teacher_are_not_used(tmp_path):
    corpus = make_corpus(tmp_path / "c")
    shard, output = tmp_path / "shard.parquet", tmp_path / "out.parquet"
    split_corpus(corpus, [shard], parallel=True)
    with pytest.raises(KeyboardInterrupt):
        translate_shard(shard, output, Echo(8), SEARCH, {"teacher": "a"}, chunk_rows=4)
    teacher = Echo()
    translate_shard(shard, output, teacher, SEARCH, {"teacher": "b"}, chunk_rows=4)
    assert teacher.translated == 18


def damage(path, change):
    table = pq.read_table(path)
    pq.write_table(change(table), path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.slice(1), r"shard-1\.parquet: has 5 rows where its part of .* has 6"),
        (
            lambda t: pa.concat_tables([t.slice(0, 2), t.slice(1, 1), t.slice(3)]),
            r"shard-1\.parquet: row 109 of the corpus stands where row 110 belongs",
        ),
        (
            lambda t: t.set_column(2, "source", pa.array(["x"] * t.num_rows)),
            r"shard-1\.parquet: row 108: source is not that of the corpus",
        ),
        (
            lambda t: t.set_column(6, "selected", pa.array([7] * t.num_rows, pa.int32())),
            r"shard-1\.parquet: row 108 has no translation",
        ),
    ],
)
def test_merging_names_the_shard_that_does_not_fit(tmp_path, change, message):
    corpus = make_corpus(tmp_path / "c")
    shards = distil(tmp_path, corpus)
    damage(shards[1], change)
    with pytest.raises(InputError, match=message):
        merge([Translated(corpus, shards)], tmp_path / "training.parquet")
    assert not (tmp_path / "training.parquet").exists()


def test_parallel_text_needs_references(tmp_path):
    corpus = make_corpus(tmp_path / "c", parallel=False)
    with pytest.raises(InputError, match="use: monolingual"):
        split_corpus(corpus, [tmp_path / "s.parquet"], parallel=True)
    split_corpus(corpus, [tmp_path / "s.parquet"], parallel=False)
    assert read_columns(tmp_path / "s.parquet", ["target"])["target"].null_count == 18


def test_joined_tables_are_their_kept_rows(tmp_path):
    """The joined table equals a merge of all corpora without rows that scores dropped; a missing weight is null."""
    parts, merged = [], []
    for name, weight in (("c1", True), ("c2", False)):
        corpus = make_corpus(tmp_path / name, name)
        if not weight:
            for path in corpus.glob("*.parquet"):
                damage(path, lambda t: t.drop_columns(["weight"]))
        parts.append(Translated(corpus, distil(tmp_path, corpus, name=name)))
        merged.append(tmp_path / f"{name}.parquet")
        merge(parts[-1:], merged[-1])
    merge(parts, tmp_path / "all.parquet")
    join(merged, tmp_path / "joined.parquet")
    expected = pq.read_table(tmp_path / "all.parquet").to_pylist()
    assert pq.read_table(tmp_path / "joined.parquet").to_pylist() == expected
    first = len(pq.read_table(merged[0]))
    dropped = pa.array(["reverse_model", *[None] * (first - 1)], pa.string())
    damage(merged[0], lambda t: t.append_column("dropped_by", dropped))
    join(merged, tmp_path / "joined.parquet")
    assert pq.read_table(tmp_path / "joined.parquet").to_pylist() == expected[1:]


class Cropping(Echo):
    """Teacher that crops sentences with two digits, as if it could read only 6 letters."""

    def nbest(self, sentences, options, progress=None):
        for number, text in enumerate(sentences):
            if len(text) > 6:
                self.on_cut(Cut(number, len(text), 6))
        return super().nbest(sentences, options, progress)


def test_cut_sentences_are_counted_once_a_job_over_killed_ones_too(tmp_path, caplog):
    corpus = make_corpus(tmp_path / "c")
    shard, output = tmp_path / "shard.parquet", tmp_path / "nbest.parquet"
    split_corpus(corpus, [shard], parallel=True)
    sentences = read_columns(shard, ["source"])["source"].to_pylist()
    long = sum(len(text) > 6 for text in sentences)
    assert 0 < long < len(sentences)
    search = replace(SEARCH, max_source_tokens=6)
    with caplog.at_level(logging.WARNING):
        with pytest.raises(KeyboardInterrupt):
            translate_shard(shard, output, Cropping(stop_after=12), search, {}, chunk_rows=4)
        assert caplog.messages == []
        translate_shard(shard, output, Cropping(), search, {}, chunk_rows=4)
    assert caplog.messages == [
        f"{output}: {long} of {len(sentences)} sentences have more than 6 pieces, cut to the first 6"
    ]
