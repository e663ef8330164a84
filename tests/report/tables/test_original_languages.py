"""The table of BLEU by original language compares each model with the teacher on the same sentences."""

from dataclasses import replace

from tests.report.conftest import read
from weebill.evaluation.quality.original_language import OriginQuality
from weebill.report.pages.translation import experiment_page
from weebill.report.rendering import to_markdown
from weebill.report.tables.original_languages import PAPER, original_languages_table

# The paper's numbers of WMT16 serve as those of the invented teacher and student.
PRINTED = {
    "teacher/beam-4/float32": {"en": 42.4, "de": 42.2},
    "small/unpruned/float32": {"en": 42.5, "de": 35.6},
}


def with_origins(results):
    origins = [
        OriginQuality(variant, "first", language, score, score - 1, score + 1, 1500, "a", "5" * 64)
        for variant, by_language in PRINTED.items()
        for language, score in by_language.items()
    ]
    config = {**results.config, "seed": 1, "corpora": {"web": {}}, "students": ["small", "other"]}
    return replace(results, config=config, origins=origins)


def test_each_language_is_compared_with_the_teachers(results):
    table = original_languages_table(with_origins(results))
    rows = {(row["variant"], row["language"]): row for row in read(table)}
    assert len(rows) == 4
    student, teacher = "small/unpruned/float32", "teacher/beam-4/float32"
    assert (rows[student, "en"]["bleu"], rows[student, "en"]["bleu_delta"]) == ("42.50", "+0.10")
    assert (rows[student, "de"]["bleu"], rows[student, "de"]["bleu_delta"]) == ("35.60", "-6.60")
    assert rows[teacher, "de"]["bleu_delta"] == "" and rows[student, "de"]["bleu_low"] == "34.60"
    assert PAPER in table.notes


def test_the_page_has_the_table_if_it_was_measured(results):
    found = with_origins(results)
    page = experiment_page(found, [], {})
    assert to_markdown(original_languages_table(found)) in page
    assert "BLEU by original language" not in experiment_page(replace(found, origins=[]), [], {})
