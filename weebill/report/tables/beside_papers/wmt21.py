"""Tables 1 to 3 of WMT21: architectures, pruning with 8 bits, logarithmic 4 bits."""

from weebill.experiment.precisions import grid_of
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
    "8bit": "int8",
    "8bit+finetuning": "int8-finetuned",
    "log-4bit": "log4-finetuned",
}
SCORES = tuple(
    q.score("wmt21", column)
    for column in ("bleu_wmt20", "bleu_wmt21", "comet_wmt20", "comet_wmt21")
)


def _in_table2(row: Printed) -> Key:
    recipe = row["pruning"].replace("none", "unpruned")
    return (row["model"], recipe, PRECISIONS[row["precision"]])


def _in_table3(row: Printed) -> Key:
    return (row["model"], "unpruned", PRECISIONS[row["precision"]])


def _by_group_lasso(recipes: Recipes, name: str) -> bool:
    """Return True for group lasso, and for the training of its shapes from scratch."""
    shape = pruning_method(recipes[name]).shape_from or name
    return recipes[shape]["method"] == "group-lasso"


TABLES = (
    *student_tables(
        "wmt21",
        1,
        "WMT21 table 1: architectures and quality",
        "Teacher and students before pruning and quantization: their shapes, sizes and BLEU. Sizes of the "
        "teacher are of its whole ensemble, as the paper prints them.",
        StudentLines("wmt21", in_table1, trained, against_teacher=True),
        (
            q.depth(),
            q.embedding(),
            q.feed_forward(),
            q.attention_width(),
            q.heads(),
            q.vocabulary(),
            q.parameters(),
            q.mebibytes(),
            *SCORES,
        ),
        (q.seconds("seconds"), q.words_per_second(None, "Words/s, 1 core")),
    ),
    *student_tables(
        "wmt21",
        2,
        "WMT21 table 2: pruned and quantized students",
        "Pruned students in float32, in 8 bits, and in 8 bits after fine-tuning. Sparsity is the share of "
        "encoder attention heads and feed-forward neurons removed.",
        StudentLines(
            "wmt21",
            _in_table2,
            lambda v: is_student(v) and grid_of(v.precision) != "log4",
            ("model", "pruning", "precision"),
            recipes_too=_by_group_lasso,
        ),
        (
            *SCORES,
            q.sparsity("sparsity_att", "Sparsity Att.", 0),
            q.sparsity("sparsity_ffn", "Sparsity FFN", 1),
        ),
        (q.seconds("seconds"),),
    ),
    *student_tables(
        "wmt21",
        3,
        "WMT21 table 3: students in logarithmic 4 bits",
        "Students stored in logarithmic 4 bits, decoded to float32 to run.",
        StudentLines(
            "wmt21",
            _in_table3,
            lambda v: (
                is_student(v)
                and v.recipe == "unpruned"
                and v.precision in ("float32", "log4", "log4-finetuned")
            ),
            ("model", "precision"),
        ),
        (*SCORES, q.mebibytes()),
    ),
)
