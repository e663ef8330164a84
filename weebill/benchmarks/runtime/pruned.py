"""Shapes of the papers' pruned students, and their speed-ups in the papers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from weebill.report.papers import load_table
from weebill_runtime.architecture import Architecture


@dataclass(frozen=True)
class Cut:
    """Pruned shape; faster: the paper's speed in each precision, relative to the unpruned student in float32."""

    recipe: str
    architecture: Architecture
    faster: Mapping[str, float]


def cuts(name: str, full: Architecture) -> list[Cut]:
    """Return the papers' prunings of a student in WNGT20's table 2 or WMT21's table 2; none for other students."""
    return [*_wngt20(name, full), *_wmt21(name, full)]


def _wngt20(name: str, full: Architecture) -> list[Cut]:
    """Return shapes with the printed heads in each layer; speeds are computed from words per second in float32."""
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
    """Return shapes without the printed shares of heads and neurons, removed evenly; speeds are from seconds."""
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


def _with(full: Architecture, heads: list[int], feed_forward: int | None = None) -> Architecture:
    encoder = tuple(
        replace(layer, heads=count, feed_forward=feed_forward or layer.feed_forward)
        for layer, count in zip(full.encoder, heads, strict=True)
    )
    return replace(full, encoder=encoder)


def _evenly(count: int, layers: int) -> list[int]:
    """Divide heads among layers; upper layers have one more if the division is not even."""
    least, more = divmod(count, layers)
    return [least] * (layers - more) + [least + 1] * more
