"""Lines after a run: models in their roles, scores of all test sets, and a correct shell command."""

import shlex

import pyarrow as pa
import pytest

from weebill.corpus.table import write_table
from weebill.report.outcome import outcome

BLEU = {  # variant: BLEU on two test sets, MiB, words per second by two engines
    "teacher/beam-4/float32": (50.0, 40.0, 2461, (0.3, 0.4)),
    "teacher/greedy/float32": (49.0, 39.0, 2461, (200, 210)),
    "one/unpruned/float32": (46.0, 40.0, 2.0, (900, 3000)),
    "one/unpruned/int8": (45.0, 39.0, 0.5, (800, 4000)),
    "one/pushy/int8": (45.0, 40.0, 0.4, (800, 5000)),
    "one/pushy/float32": (60.0, 60.0, 1.1, (800, 5000)),  # more than half as large
}
CONFIG = {"kind": "translation", "test_sets": ["news", "talks"]}


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results of mine"
    (folder / "tables/speed").mkdir(parents=True)
    rows = [
        f"{variant},{test_set},{bleu},{mebibytes}"
        for variant, (*scores, mebibytes, _) in BLEU.items()
        for test_set, bleu in zip(CONFIG["test_sets"], scores, strict=True)
    ]
    (folder / "tables/variants.csv").write_text(
        "\n".join(["variant,test_set,bleu,size_mib", *rows])
    )
    (folder / "tables/steps.csv").write_text("variant,bleu\n")
    rows = [f"{name},{speed}" for name, (*_, speeds) in BLEU.items() for speed in speeds]
    (folder / "tables/speed/variants.csv").write_text("\n".join(["variant,wps_1core", *rows]))
    texts = {"news": [("Who?", "Wer?"), ("It's Tom.", "Tom."), ("I see.", "Ah.")]}
    texts |= {"talks": [("That was long ago.", "Lange her.")]}
    for name, pairs in texts.items():
        table = pa.table(list(zip(*pairs, strict=True)), ["source", "target"])
        write_table(folder / f"test_sets/{name}.parquet", table)
    for variant in BLEU:
        made = folder / "evaluation/translations" / variant
        made.mkdir(parents=True)
        (made / "news.txt").write_text("Wer?\nTom.\nOh.\n")
        (made / "talks.txt").write_text("Lange.\n")
    return folder


def test_models_in_their_roles(results):
    lines = [line.split() for line in outcome(CONFIG, results)]
    rows = {line[-4]: line for line in lines if len(line) >= 4 and "/" in line[-4]}
    assert rows == {
        "teacher/beam-4/float32": ["teacher", "teacher/beam-4/float32", "45.0", "2461", "0.4"],
        "one/unpruned/float32": ["student", "one/unpruned/float32", "43.0", "2", "3,000"],
        "one/pushy/int8": ["best", "small", "student", "one/pushy/int8", "42.5", "0.4", "5,000"],
    }


def test_scores_are_those_of_the_reports_first_page(results):
    """A corpus score of all sentences is no mean; other variants were not compared on this text."""
    together = ["variant,bleu", "teacher/beam-4/float32,44.1", "one/unpruned/float32,42.2"]
    (results / "tables/steps.csv").write_text("\n".join([*together, "one/unpruned/int8,41.3"]))
    lines = [line.split() for line in outcome(CONFIG, results)]
    rows = {line[-4]: line[-3] for line in lines if len(line) >= 4 and "/" in line[-4]}
    assert rows == {
        "teacher/beam-4/float32": "44.1",
        "one/unpruned/float32": "42.2",
        "one/unpruned/int8": "41.3",
    }


def test_command_names_the_model_and_a_sentence_that_it_translates_right(results):
    sentence, bar, _, command, model = shlex.split(outcome(CONFIG, results)[-1])[1:]
    assert (sentence, bar, command) == ("It's Tom.", "|", "translate")
    assert model == str(results / "models/one/pushy/int8")


def test_the_best_small_student_is_a_model_that_its_command_finds(results):
    """A beam search of a small student has no folder of its own, and a random choice of heads is only a baseline."""
    better = ["small/unpruned/float32,42.75,0.9", "small/beam-4/float32,48.0,0.9"]
    better.append("one/chance/float32,49.0,0.9")
    for file, columns in (("variants", "news,{},{}"), ("speed/variants", "7000")):
        table = results / f"tables/{file}.csv"
        rows = [row.split(",") for row in better]
        lines = [",".join([name, columns.format(*numbers)]) for name, *numbers in rows]
        table.write_text("\n".join([table.read_text(), *lines]))
    for name, *_ in (row.split(",") for row in better):
        folder = results / "evaluation/translations" / name
        folder.mkdir(parents=True)
        (folder / "news.txt").write_text("Wer?\nTom.\nOh.\n")
        (folder / "talks.txt").write_text("Lange.\n")
    recipe = {"method": "one-shot", "criterion": "random", "heads": 2}
    lines = outcome({**CONFIG, "pruning": {"chance": recipe}}, results)
    assert lines[-1].endswith("models/small/unpruned/float32'")


def test_only_translation_with_students_has_an_outcome(results):
    assert outcome({"kind": "metric"}, results) == []
    table = results / "tables/variants.csv"
    table.write_text("\n".join(table.read_text().splitlines()[:5]))
    assert outcome(CONFIG, results) == []
