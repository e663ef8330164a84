"""Tables of measured times name the engines, and show times as measured."""

from dataclasses import replace

from tests.report.conftest import BENCHMARK, read
from weebill.report.tables import speeds
from weebill.report.tables.beside_papers import wngt20


def test_students_speeds_are_the_runtimes_and_the_teachers_pytorchs(results):
    table = speeds.speed_table(results)
    rows = {(r["variant"], r["engine"]): r for r in read(table)}
    assert len(rows) == 2 + 2 * 8  # the teacher's two searches run in PyTorch only
    student = "small/unpruned/int8-finetuned"
    fast, reference = (
        rows[student, engine] for engine in ("Weebill runtime (vnni)", "PyTorch reference")
    )
    assert (fast["wps_1core"], reference["wps_1core"]) == ("3000", "750")
    assert fast["wps_1core_delta"] == "x15.0"  # the teacher has 200
    assert rows["teacher/beam-4/float32", "PyTorch reference"]["wps_all"] == "400"
    first = next(r for r in read(table) if r["variant"] == student)
    assert first["engine"] == "Weebill runtime (vnni)"
    # All cores: the fastest division into processes is shown, here 1 x 2 threads; the text names both.
    assert rows["other/unpruned/float32", "PyTorch reference"]["wps_all"] == "2500"
    assert any("by 1 x 2 threads: 2500 words/s" in note for note in table.notes)
    table = next(t for t in wngt20.TABLES if (t.folder, t.name) == ("speed", "wngt20_table3"))
    notes = " ".join(table.build(results).notes)
    assert "the teacher by the PyTorch reference, students by the Weebill runtime (vnni)" in notes


def test_a_teacher_timed_on_a_part_of_the_text_has_the_seconds_of_all(results):
    """Ratios of seconds are the inverse of ratios of words per second, even if less text was translated."""
    speeds_of_all = results.speeds
    results.speeds = [
        replace(one, sentences=50, words=1000, seconds=[taken / 10 for taken in one.seconds])
        if one.variant.startswith("teacher/")
        else one
        for one in speeds_of_all
    ]
    part = speeds.speed_table(results)
    assert read(part) == read(speeds.speed_table(replace(results, speeds=speeds_of_all)))
    row = next(r for r in read(part) if r["variant"] == "small/unpruned/int8-finetuned")
    assert (row["seconds"], row["seconds_delta"]) == ("3.33", "x0.067")  # the teacher takes 50 s
    told = "10,000 source words in 500 sentences (the teacher: the first 50; its seconds are those of all"
    beside = next(t for t in wngt20.TABLES if (t.folder, t.name) == ("speed", "wngt20_table1"))
    for table in (part, beside.build(results)):
        assert told in " ".join(table.notes)
    student = next(r for r in read(beside.build(results)) if r["ours"] == "small/unpruned/float32")
    assert (student["seconds_ours"], student["seconds_ours_delta"]) == ("5.00", "x0.10")


def test_latencies_and_the_benchmark_are_shown_as_measured(results):
    rows = read(speeds.latency_table(results))
    assert len(rows) == len(results.latencies)
    row = next(r for r in rows if r["engine"] == "Weebill runtime (vnni)")
    assert [row[key] for key in ("mean_ms", "p50_ms", "p95_ms", "p99_ms")] == [
        "1.25", "1.00", "4.00", "20.0"
    ]  # fmt: skip
    assert (row["load_seconds"], row["idle_mib"], row["peak_mib"]) == ("0.12", "300", "412")
    first, second = read(speeds.benchmark_table(replace(results, engines=[BENCHMARK])))
    assert (first["ratio"], first["lowest"], first["highest"], first["paper"]) == (
        "2.50", "2.38", "2.62", "1.41"
    )  # fmt: skip
    assert (second["ours"], second["unit"], second["paper"]) == ("0.500", "ms", "")


def test_the_sentences_of_latencies_are_the_students(results):
    """The teacher is measured first, but translates fewer sentences."""
    teachers = [one for one in results.latencies if one.variant.startswith("teacher/")]
    fewer = [replace(one, sentences=50) if one in teachers else one for one in results.latencies]
    notes = speeds.latency_table(replace(results, latencies=fewer)).notes
    assert notes[0].startswith("200 sentences (the teacher: the first 50) on one core, one thread")
    assert speeds.latency_table(results).notes[0].startswith("200 sentences on one core")


def test_texts_without_spaces_are_counted_in_characters_too(results):
    assert "cps_all" not in read(speeds.speed_table(results))[0]
    counted = [replace(one, characters=15_000) for one in results.speeds]
    table = speeds.speed_table(replace(results, speeds=counted))
    row = next(r for r in read(table) if r["variant"] == "small/unpruned/int8-finetuned")
    assert (row["wps_1core"], row["cps_1core"]) == ("3000", "4500")
    beside = next(t for t in wngt20.TABLES if (t.folder, t.name) == ("speed", "wngt20_table1"))
    for one in (table, beside.build(replace(results, speeds=counted))):
        assert "10,000 source words (letters, as the script has" in " ".join(one.notes)
