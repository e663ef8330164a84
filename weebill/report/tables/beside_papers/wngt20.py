"""Tables 1 to 3 of WNGT20: architectures, pruned encoder attention, quantization."""

from weebill.pruning.methods import pruning_method
from weebill.report.tables.beside_papers import quantities as q
from weebill.report.tables.beside_papers.comparison import Printed
from weebill.report.tables.beside_papers.students import (
    Key,
    Recipes,
    StudentLines,
    in_table1,
    is_student,
    student_tables,
    trained,
)

PRECISIONS = {  # the paper's name → ours
    "float32": "float32",
    "8bit": "int8-finetuned",
    "8bit-untuned": "int8",
    "log-4bit": "log4-finetuned",
}


def _in_table2(row: Printed) -> Key:
    model, _, recipe = row["model"].partition(".")
    return (model, recipe.replace(".", "-") or "unpruned", "float32")


def _in_table3(row: Printed) -> Key:
    return (row["model"], "unpruned", PRECISIONS[row["precision"]])


def _takes_heads_alone(recipes: Recipes, name: str) -> bool:
    """Return True for a method that removes heads alone, such as late resetting."""
    return pruning_method(recipes[name]).parts == {"heads"}


TABLES = (
    *student_tables(
        "wngt20",
        1,
        "WNGT20 table 1: architectures and quality",
        "Teacher and students before pruning and quantization: their shapes, sizes and BLEU. Sizes of the "
        "teacher are of one member of its ensemble, as the paper prints them.",
        StudentLines("wngt20", in_table1, trained, against_teacher=True),
        (
            q.embedding(),
            q.feed_forward(),
            q.depth(),
            q.vocabulary(),
            q.parameters(per_member=True),
            q.mebibytes(per_member=True),
            q.score("wngt20", "bleu_wmt16"),
            q.score("wngt20", "bleu_wmt19"),
            q.score("wngt20", "bleu_wmt1x"),
        ),
        (q.seconds(None), q.words_per_second(None, "Words/s, 1 core")),
    ),
    *student_tables(
        "wngt20",
        2,
        "WNGT20 table 2: students with pruned encoder attention",
        "Encoder heads removed by confidence with late resetting, in small steps (Steady) or large ones "
        "(Pushy): the heads left in each encoder layer, and what their removal cost.",
        StudentLines(
            "wngt20",
            _in_table2,
            lambda v: is_student(v) and v.precision == "float32",
            recipes_too=_takes_heads_alone,
        ),
        (
            q.encoder_heads(),
            q.parameters(),
            q.mebibytes(),
            q.score("wngt20", "bleu_wmt19"),
            q.score("wngt20", "bleu_wmt1x"),
        ),
        (q.words_per_second("wps_1core_fp32", "Words/s, 1 core"),),
    ),
    *student_tables(
        "wngt20",
        3,
        "WNGT20 table 3: quantized students",
        "Size, compressed size and BLEU of students in float32, 8 bits (with static activation scales) and "
        "logarithmic 4 bits. The vocabulary is not counted.",
        StudentLines(
            "wngt20",
            _in_table3,
            lambda v: is_student(v) and v.recipe == "unpruned",
            ("model", "precision"),
        ),
        (
            q.mebibytes(),
            q.compressed(),
            q.score("wngt20", "bleu_wmt19"),
            q.score("wngt20", "bleu_wmt1x"),
        ),
        (
            q.words_per_second("wps_1core", "Words/s, 1 core"),
            q.words_per_second("wps_multicore", "Words/s, all cores", all_cores=True),
        ),
    ),
)
