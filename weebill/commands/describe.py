"""Print depth, shapes, parameters and float32 size of models of the architecture zoo."""

import argparse
import json
from dataclasses import replace
from typing import Any

from weebill.arguments import LARGEST, positive, whole
from weebill.errors import InputError, nearest
from weebill.files import MIB

VOCABULARY = 8000  # default number of pieces


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    names = add("names", nargs="*", metavar="NAME", help="entry of the zoo, such as tiny")
    names.completer = zoo_names
    add("--all", action="store_true", help="every entry of the zoo")
    add("--json", action="store_true", help="a JSON list, one object for each model")
    add("--vocabulary", type=positive, default=VOCABULARY, metavar="N",
        help=f"pieces for entries that name no vocabulary (default {VOCABULARY})")  # fmt: skip
    add("--source-vocabulary", type=positive, metavar="N",
        help="pieces of the source's own vocabulary (vocabulary.joint: false)")  # fmt: skip
    add("--heads-removed", type=whole(0, LARGEST), default=0, metavar="N",
        help="cut N encoder heads first, evenly over the layers")  # fmt: skip


def zoo_names(**_: Any) -> list[str]:
    """Return the names of the zoo, for the shell's completion."""
    from weebill.experiment.zoo import MODELS
    from weebill.yaml_files import read_yaml

    return list(read_yaml(MODELS))


def run(arguments: argparse.Namespace) -> int:
    """Describe the named models.  Raises InputError with a line for each unknown name."""
    from weebill.configuration.zoo_file import load_zoo
    from weebill.experiment.zoo import MODELS_NAME  # loads schemas and more

    zoo = load_zoo()
    names = list(zoo) if arguments.all else arguments.names
    if not names:
        raise InputError(f"describe: no model named; name one of {MODELS_NAME}, or give --all")
    if unknown := [name for name in names if name not in zoo]:
        lines = (f"describe: no model '{n}' in {MODELS_NAME}{nearest(n, zoo)}" for n in unknown)
        raise InputError("\n".join(lines))
    settings = arguments.vocabulary, arguments.heads_removed, arguments.source_vocabulary
    rows = [describe(name, zoo[name], *settings) for name in names]
    print(json.dumps(rows, indent=2) if arguments.json else as_text(rows))
    return 0


def describe(
    name: str,
    entry: dict[str, Any],
    vocabulary: int = VOCABULARY,
    heads_removed: int = 0,
    source_vocabulary: int | None = None,
) -> dict[str, Any]:
    """Count the parameters of a zoo entry; for an ensemble, add up those of its models."""
    from weebill.experiment.zoo import MODELS_NAME, members

    vocabulary = entry.get("vocabulary", vocabulary)
    heads = sum(_spread_heads(entry, heads_removed))
    sizes = vocabulary, source_vocabulary
    parameters = sum(_count(part, sizes, heads_removed) for part in members(entry))
    row = {
        "name": name,
        **{key: value for key, value in entry.items() if key not in ("paper", "note")},
        "vocabulary": vocabulary,
        **({"source_vocabulary": source_vocabulary} if source_vocabulary else {}),
        "encoder_heads": heads,
        "parameters": parameters,
        "float32_mib": round(parameters * 4 / MIB, 3),
    }
    if "paper" in entry and not heads_removed and not source_vocabulary:
        from weebill.report.papers import students_of

        students = students_of(entry["paper"])
        printed = {student: float(row["params_m"]) for student, row in students.items()}
        if name not in printed:
            reason = f"{entry['paper']} prints no such row{nearest(name, printed)}"
            raise InputError(f"{MODELS_NAME}: {name}.paper: {reason}")
        row |= {"paper": entry["paper"], "paper_parameters_m": printed[name]}
        if "note" in entry:
            row["note"] = entry["note"]
    return row


def _count(entry: dict[str, Any], sizes: tuple[int, int | None], heads_removed: int) -> int:
    from weebill_runtime.architecture import Architecture

    architecture = Architecture.from_zoo(entry, *sizes)
    shapes = zip(architecture.encoder, _spread_heads(entry, heads_removed), strict=True)
    encoder = tuple(replace(shape, heads=heads) for shape, heads in shapes)
    return replace(architecture, encoder=encoder).parameters


def _spread_heads(entry: dict[str, Any], removed: int) -> list[int]:
    """Return the remaining heads of each encoder layer after `removed` are cut; lower layers lose heads first."""
    layers, all_heads = entry["encoder_layers"], entry["encoder_layers"] * entry["heads"]
    if not 0 <= removed <= all_heads:
        found = f"found {removed}, expected 0 to {all_heads}, all there are"
        raise InputError(f"--heads-removed: {found}")
    least, more = divmod(all_heads - removed, layers)
    return [least] * (layers - more) + [least + 1] * more


def as_text(rows: list[dict[str, Any]]) -> str:
    """Format the descriptions as a table for the terminal, with notes below it."""
    cells = [_cells(row) for row in rows]
    lines = [[*cells[0]], *([*one.values()] for one in cells)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [
        "  ".join(
            # Names are aligned to the left, numbers to the right.
            cell.ljust(width) if index in (0, 2) else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    text += [f"* {row['name']}: {row['note']}" for row in rows if "note" in row]
    return "\n".join(text)


def _cells(row: dict[str, Any]) -> dict[str, str]:
    depths = row["decoder_layers"]
    decoder_depth = "/".join(map(str, depths)) if isinstance(depths, list) else str(depths)
    every, left = row["heads"] * row["encoder_layers"], row["encoder_heads"]
    printed = f"{row['paper_parameters_m']:.1f} M" if "paper_parameters_m" in row else ""
    return {
        "model": row["name"],
        "depth": f"{row['encoder_layers']}-{decoder_depth}",
        "decoder": row["decoder"] + (", tied" if row["decoder_tied"] else ""),
        "embedding": str(row["embedding"]),
        "feed-forward": str(row["feed_forward"]),
        "heads": f"{left}/{every}" if left != every else str(row["heads"]),
        "attention": str(row["attention_width"]),
        "vocabulary": "/".join(
            str(row[key]) for key in ("source_vocabulary", "vocabulary") if key in row
        ),
        "parameters": f"{row['parameters']:,}",
        "MiB": f"{row['float32_mib']:.1f}",
        "printed": printed + ("*" if "note" in row else ""),
    }
