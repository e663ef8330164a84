"""Quantities of students in the papers' tables, with functions that read our results and the paper's rows."""

from collections.abc import Callable
from dataclasses import replace
from math import prod

from weebill.evaluation.measurement import Variant
from weebill.evaluation.size.translation_size import Size, encoder_sparsity
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Comparison, fixed, three_digits
from weebill.report.tables.beside_papers.comparison import Printed, Quantity


def score(paper: str, column: str) -> Quantity:
    """Declare BLEU or COMET: the mean over the test sets that `report.columns` gives for the paper's column."""
    return Quantity(
        column,
        column.replace("_", " ").upper().replace("WMT1X", "WMT1*"),
        lambda results, variant: fixed(lookup.column(results, variant, paper, column), 2),
        "difference",
    )


def _size(
    key: str, title: str, read: Callable[[Size], str], comparison: Comparison = "ratio"
) -> Quantity:
    def ours(results: Results, variant: Variant) -> str:
        size = results.size(variant)
        return read(size) if size else ""

    return Quantity(key, title, ours, comparison)


def _shape(key: str, title: str, read: Callable[[dict], object]) -> Quantity:
    """Declare a dimension of the architecture, which is shown without a comparison."""
    return _size(key, title, lambda s: str(read(s.architecture)) if s.architecture else "", "none")


def _span(architecture: dict, *keys: str) -> str:
    """Return the range, over the encoder's layers, of the product of some dimensions."""
    values = [prod(layer[key] for key in keys) for layer in architecture["encoder"]]
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"


def _our_depth(architecture: dict) -> str:
    depth = architecture["decoder_depth"]
    tied = len(architecture["decoder"]) == 1 and depth > 1
    return f"{len(architecture['encoder'])}/{depth}" + (" tied" if tied else "")


def _printed_depth(row: Printed) -> str:
    tied = row["dec_tied"] == "true"
    return f"{row['enc_depth']}/{row['dec_depth']}" + (" tied" if tied else "")


DEPTH = replace(_shape("depth", "Depth", _our_depth), printed=_printed_depth)  # as in "6/2 tied"
EMBEDDING = _shape("emb", "Emb.", lambda a: a["embedding"])
FEED_FORWARD = _shape("ffn", "FFN", lambda a: _span(a, "feed_forward"))
ATTENTION_WIDTH = _shape("att", "Att.", lambda a: _span(a, "heads", "head_size"))
HEADS = _shape("heads", "Heads", lambda a: _span(a, "heads"))  # per encoder layer
# Size of the vocabulary, or sizes of both, the source's first.
VOCABULARY = _shape(
    "vocab",
    "Voc.",
    lambda a: "/".join(str(a[key]) for key in ("source_vocabulary", "vocabulary") if key in a),
)
# Remaining encoder heads of each layer, first layer first.
ENCODER_HEADS = _shape(
    "enc_heads", "Enc. heads", lambda a: " ".join(str(layer["heads"]) for layer in a["encoder"])
)


# Parameters and bytes on disk of a whole ensemble, or of one member if a paper prints that.
PARAMETERS = _size("params_m", "Params (M)", lambda s: three_digits(s.parameters / 1e6))
MEMBER_PARAMETERS = _size(
    "params_m", "Params (M)", lambda s: three_digits(s.parameters / 1e6 / s.members)
)
MEBIBYTES = _size("size_mb", "Size (MiB)", lambda s: three_digits(s.mib))
MEMBER_MEBIBYTES = _size("size_mb", "Size (MiB)", lambda s: three_digits(s.mib / s.members))
COMPRESSED = _size("xz_size_mb", "xz size (MiB)", lambda s: three_digits(s.xz_mib))


def _sparsity(key: str, title: str, part: int) -> Quantity:
    def ours(results: Results, variant: Variant) -> str:
        size, baseline = results.size(variant), results.size(variant.baseline)
        if variant.student == lookup.TEACHER or not (size and baseline and size.architecture):
            return ""
        return fixed(encoder_sparsity(size, baseline)[part], 2)

    return Quantity(key, title, ours)


# Shares of encoder heads and of feed-forward neurons that pruning removed.
SPARSITY = (
    _sparsity("sparsity_att", "Sparsity Att.", 0),
    _sparsity("sparsity_ffn", "Sparsity FFN", 1),
)


def words_per_second(key: str = "wps_1core", cores: str = "1 core") -> Quantity:
    """Declare the source words per second, as the median of the rounds.  cores: "1 core" or "all cores"."""

    def ours(results: Results, variant: Variant) -> str:
        return lookup.words_per_second(lookup.speed(results, variant, cores == "all cores"))

    return Quantity(key, f"Words/s, {cores}", ours, "ratio")


def _seconds(results: Results, variant: Variant) -> str:
    one = lookup.speed(results, variant)
    return lookup.seconds(one, lookup.whole_text(results).words) if one else ""


# Seconds for the whole text on one core, as the median of the rounds.
SECONDS = Quantity("seconds", "Seconds", _seconds, "ratio")
