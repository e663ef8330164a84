"""The table shows the measurements of each stage's student, and compares it with the first stage's."""

from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comparison import compare
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.report.tables.cleaning_students import StageResult, cleaning_students_table

REFERENCES = [f"der Vogel singt am Morgen Nummer {n}" for n in range(40)]
WORSE = [line.replace("Vogel", "Hund") if n % 2 else line for n, line in enumerate(REFERENCES)]
SET = TestSet("birds", REFERENCES, REFERENCES)


def result(stage, pairs, damaged, lines):
    variants = [Variant("tiny", name, "float32") for name in (stage, "none")]
    one = compare(*variants, [SET], lines, WORSE, bootstrap=100, target="de")
    return StageResult(stage, pairs, damaged, [one], one)


def test_rows():
    results = [result("none", 100, 10, WORSE), result("rules", 91, 2, REFERENCES)]
    table = cleaning_students_table("tiny", results)
    keys = [column.key for column in table.columns]
    none, rules = (
        dict(zip(keys, (cell.text for cell in row.cells), strict=True)) for row in table.rows
    )
    assert (none["stage"], none["pairs"], none["damaged"]) == ("none", "100", "10")
    assert none["difference"] == none["p"] == "" and rules["bleu_birds"] == "100.00"
    difference = 100 - float(none["bleu_birds"])
    assert abs(float(rules["difference"]) - difference) < 0.011 and float(rules["p"]) < 0.05
    assert float(rules["difference_low"]) <= difference <= float(rules["difference_high"])
    assert [row.kind for row in table.rows] == ["baseline", "plain"]
