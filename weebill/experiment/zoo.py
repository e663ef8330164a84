"""Architecture zoo: config/models.yaml in a checkout, the same file inside the installed package."""

from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
# Users edit the link in config; some editors replace it by a file.
if (CHECKOUT / "Snakefile").is_file():
    MODELS, MODELS_NAME = CHECKOUT / "config/models.yaml", "config/models.yaml"
else:
    MODELS = Path(__file__).with_name("models.yaml")
    MODELS_NAME = str(MODELS)

Zoo = dict[str, dict[str, Any]]


def members(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the single models of an entry: the entry itself, or one for each decoder depth that it lists."""
    depths = entry["decoder_layers"]
    if not isinstance(depths, list):
        return [entry]
    return [{**entry, "decoder_layers": depth} for depth in depths]


def member_of(entry: dict[str, Any], member: int) -> dict[str, Any]:
    """Return the model of one member, counted from 0, of a teacher ensemble."""
    return members(entry)[member] if isinstance(entry["decoder_layers"], list) else entry


def attention_blocks(entry: dict[str, Any]) -> dict[str, int]:
    """Return the number of heads of each attention block of a single model, by the block's name in pruning."""
    names = [f"encoder.{layer}.self_attention" for layer in range(entry["encoder_layers"])]
    for layer in range(_distinct_decoder_layers(entry)):
        if entry["decoder"] == "attention":
            names.append(f"decoder.{layer}.self_attention")
        names.append(f"decoder.{layer}.cross_attention")
    return dict.fromkeys(names, entry["heads"])


def feed_forward_blocks(entry: dict[str, Any]) -> dict[str, int]:
    """Return the number of neurons of each feed-forward block of a single model, by the block's name in pruning."""
    layers = {"encoder": entry["encoder_layers"], "decoder": _distinct_decoder_layers(entry)}
    names = [f"{side}.{layer}.feed_forward" for side in layers for layer in range(layers[side])]
    return dict.fromkeys(names, entry["feed_forward"])


def _distinct_decoder_layers(entry: dict[str, Any]) -> int:
    return 1 if entry["decoder_tied"] else entry["decoder_layers"]
