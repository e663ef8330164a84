"""Quantities of students in the papers' tables, each with its readers for our results and the paper's row."""

from collections.abc import Callable

from weebill.evaluation.measurement import Variant
from weebill.evaluation.size.translation_size import MIB, Size, encoder_sparsity
from weebill.report.lookups import translation as lookup
from weebill.report.lookups.translation import TEACHER
from weebill.report.results import Results
from weebill.report.table import fixed, three_digits
from weebill.report.tables.beside_papers.comparison import Printed, Quantity, nothing, printed


def score(paper: str, column: str) -> Quantity:
    """Declare BLEU or COMET: the mean over the test sets that `report.columns` gives for the paper's column."""
    return Quantity(
        column,
        column.replace("_", " ").upper().replace("WMT1X", "WMT1*"),
        lambda results, variant: fixed(lookup.column(results, variant, paper, column), 2),
        printed(column),
        "difference",
    )


def shape(
    key: str, title: str, read: Callable[[dict], str], paper: Callable[[Printed], str]
) -> Quantity:
    """Declare a dimension of the architecture, which is shown without a comparison."""

    def ours(results: Results, variant: Variant) -> str:
        size = results.size(variant)
        return read(size.architecture) if size and size.architecture else ""

    return Quantity(key, title, ours, paper)


def embedding() -> Quantity:
    """Declare the width of the embeddings."""
    return shape("emb", "Emb.", lambda a: str(a["embedding"]), printed("emb"))


def feed_forward() -> Quantity:
    """Declare the width of the feed-forward blocks; a range if layers differ."""
    return shape("ffn", "FFN", lambda a: _span(_encoder(a, "feed_forward")), printed("ffn"))


def depth() -> Quantity:
    """Declare the layers of encoder and decoder, as in "6/2 tied"."""

    def ours(architecture: dict) -> str:
        tied = len(architecture["decoder"]) == 1 and architecture["decoder_depth"] > 1
        text = f"{len(architecture['encoder'])}/{architecture['decoder_depth']}"
        return text + (" tied" if tied else "")

    def paper(row: Printed) -> str:
        text = f"{row['enc_depth']}/{row['dec_depth']}"
        return text + (" tied" if row["dec_tied"] == "true" else "")

    return shape("depth", "Depth", ours, paper)


def attention_width() -> Quantity:
    """Declare the width of the encoder's attention: heads times head size."""

    def ours(architecture: dict) -> str:
        return _span([layer["heads"] * layer["head_size"] for layer in architecture["encoder"]])

    return shape("att", "Att.", ours, printed("att"))


def heads() -> Quantity:
    """Declare the number of encoder heads in a layer."""
    return shape("heads", "Heads", lambda a: _span(_encoder(a, "heads")), printed("heads"))


def encoder_heads() -> Quantity:
    """Declare the encoder heads left in each layer, first layer first."""

    def ours(architecture: dict) -> str:
        return " ".join(map(str, _encoder(architecture, "heads")))

    return shape("enc_heads", "Enc. heads", ours, printed("enc_heads"))


def vocabulary() -> Quantity:
    """Declare the number of pieces in the vocabulary."""
    return shape("vocab", "Voc.", lambda a: str(a["vocabulary"]), printed("vocab"))


def parameters(per_member: bool = False) -> Quantity:
    """Declare the millions of parameters, of a whole ensemble or, if the paper prints that, of one member."""
    return _size("params_m", "Params (M)", lambda s: s.parameters / 1e6, per_member)


def mebibytes(per_member: bool = False) -> Quantity:
    """Declare the MiB of the parameters on disk."""
    return _size("size_mb", "Size (MiB)", lambda s: s.parameter_bytes / MIB, per_member)


def compressed() -> Quantity:
    """Declare the MiB of the parameters, compressed by xz."""
    return _size("xz_size_mb", "xz size (MiB)", lambda s: s.xz_bytes / MIB, False)


def sparsity(key: str, title: str, part: int) -> Quantity:
    """Declare the share of encoder heads (part 0) or feed-forward neurons (part 1) that pruning removed."""

    def ours(results: Results, variant: Variant) -> str:
        size, baseline = results.size(variant), results.size(variant.baseline)
        if variant.student == TEACHER or not (size and baseline and size.architecture):
            return ""
        return fixed(encoder_sparsity(size, baseline)[part], 2)

    return Quantity(key, title, ours, printed(key))


def words_per_second(column: str | None, title: str, all_cores: bool = False) -> Quantity:
    """Declare the source words per second, median of the rounds."""

    def ours(results: Results, variant: Variant) -> str:
        speed = lookup.speed(results, variant, all_cores)
        return fixed(speed.words_per_second, 0) if speed else ""

    key = column or ("wps_multicore" if all_cores else "wps_1core")
    return Quantity(key, title, ours, printed(column) if column else nothing, "ratio")


def seconds(column: str | None) -> Quantity:
    """Declare the seconds of one core for the whole text, median of the rounds."""

    def ours(results: Results, variant: Variant) -> str:
        speed = lookup.speed(results, variant)
        return three_digits(speed.words / speed.words_per_second) if speed else ""

    return Quantity("seconds", "Seconds", ours, printed(column) if column else nothing, "ratio")


def _size(key: str, title: str, read: Callable[[Size], float], per_member: bool) -> Quantity:
    def ours(results: Results, variant: Variant) -> str:
        size = results.size(variant)
        if size is None:
            return ""
        return three_digits(read(size) / (size.members if per_member else 1))

    return Quantity(key, title, ours, printed(key), "ratio")


def _encoder(architecture: dict, key: str) -> list[int]:
    return [layer[key] for layer in architecture["encoder"]]


def _span(values: list[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"


def encoder_totals(results: Results, variant: Variant) -> int | None:
    """Count a variant's encoder heads in all layers together."""
    size = results.size(variant)
    return sum(_encoder(size.architecture, "heads")) if size and size.architecture else None
