"""The papers' pruned students as shapes: what is left of an architecture, and how much faster the paper found it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from weebill.experiment.shapes import Architecture
from weebill.report.papers import load_table


@dataclass(frozen=True)
class Cut:
    """A pruned shape; faster: the paper's speed in a precision by that of the unpruned student in float32."""

    recipe: str
    architecture: Architecture
    faster: Mapping[str, float]


def cuts(name: str, full: Architecture) -> list[Cut]:
    """The papers' prunings of a student that stands in WNGT20's table 2 or WMT21's table 2; none for others."""
    return [*_wngt20(name, full), *_wmt21(name, full)]


def _wngt20(name: str, full: Architecture) -> list[Cut]:
    """Heads cut from layers as printed, words per second in float32."""
    rows = {row["model"]: row for row in load_table("wngt20", 2).to_dict("records")}
    found = []
    for model, row in rows.items():
        if model.startswith(f"{name}.") and name in rows:
            left = [int(heads) for heads in row["enc_heads"].split()]
            faster = float(row["wps_1core_fp32"]) / float(rows[name]["wps_1core_fp32"])
            recipe = model.removeprefix(f"{name}.")
            found.append(Cut(recipe, _with(full, heads=left), {"float32": faster}))
    return found


def _wmt21(name: str, full: Architecture) -> list[Cut]:
    """Heads and neurons cut by the sparsities printed, evenly from all layers; seconds, in int8 fine-tuned."""
    rows = [row for row in load_table("wmt21", 2).to_dict("records") if row["model"] == name]
    unpruned = next((float(row["seconds"]) for row in rows if row["pruning"] == "none"), None)
    precisions = {"float32": "float32", "8bit+finetuning": "int8"}
    found = []
    for recipe in dict.fromkeys(row["pruning"] for row in rows if row["pruning"] != "none"):
        chosen = [row for row in rows if row["pruning"] == recipe]
        faster = {
            precisions[row["precision"]]: unpruned / float(row["seconds"])
            for row in chosen
            if row["precision"] in precisions
        }
        heads = sum(layer.heads for layer in full.encoder)
        left = round(heads * (1 - float(chosen[0]["sparsity_att"])))
        neurons = round(full.encoder[0].feed_forward * (1 - float(chosen[0]["sparsity_ffn"])))
        shape = _with(full, heads=_evenly(left, len(full.encoder)), feed_forward=neurons)
        found.append(Cut(recipe, shape, faster))
    return found


def _with(
    full: Architecture, heads: Sequence[int], feed_forward: int | None = None
) -> Architecture:
    encoder = tuple(
        replace(layer, heads=count, feed_forward=feed_forward or layer.feed_forward)
        for layer, count in zip(full.encoder, heads, strict=True)
    )
    return replace(full, encoder=encoder)


def _evenly(count: int, layers: int) -> list[int]:
    """So many heads over the layers; the upper ones have one more where it does not divide."""
    least, more = divmod(count, layers)
    return [least] * (layers - more) + [least + 1] * more
