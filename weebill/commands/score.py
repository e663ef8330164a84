"""Score translations by a COMET model: each system with its interval, and each pair of systems.

The model is a metric folder, a checkpoint of any class of unbabel-comet (a folder or a .ckpt), or its name on the
Hugging Face hub.  Repeated sentences are encoded once; with --cache, sentences of earlier runs are not encoded again.
Models that encode the texts of a segment together (UniTE, CometKiwi, XCOMET) take sources, references or both.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weebill.arguments import positive, threads
from weebill.errors import InputError
from weebill.text_files import check_counts, read_argument

if TYPE_CHECKING:
    from weebill.metric.scorer import Judgement, Scorer

RESAMPLES = 100  # minimum: with fewer, the ends of a 95 % interval are single resamples


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", required=True, metavar="MODEL",
        help="a metric folder, a checkpoint (folder or .ckpt), or its name on the hub")  # fmt: skip
    add("-s", "--sources", type=Path, metavar="FILE",
        help="one segment per line; files may be plain, .gz, .xz or .zst, a pipe, or - for standard "
        "input")  # fmt: skip
    add("-r", "--references", type=Path, nargs="+", default=[], metavar="FILE",
        help="references, which a referenceless model does without; with several files, a segment's score is the "
        "mean of its scores with each")  # fmt: skip
    add("-t", "--translations", type=Path, nargs="+", required=True, metavar="FILE",
        help="one file for each system")  # fmt: skip
    add_scorer_arguments(parser)
    add("--bootstrap", type=positive, default=1000, metavar="N",
        help="resamples of the intervals; default 1000")  # fmt: skip
    add("--segments", action="store_true", help="print each segment's scores too")
    add(
        "--json",
        action="store_true",
        help="print all results as JSON, with the parts of each score and the errors that the model found",
    )


def add_scorer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `load_scorer`, except --model."""
    add = parser.add_argument
    add("--encoder", type=Path, metavar="FOLDER",
        help="config.json and tokenizer.json of a checkpoint's encoder, if its name is not enough to "
        "find it")  # fmt: skip
    add("--precision", default="auto", metavar="P",
        help="float32; or bfloat16, or on processors int8, which are faster and change scores by some thousandths; "
        "default auto: bfloat16 on GPUs that have it, otherwise float32")  # fmt: skip
    add("--device", default="cpu", metavar="D", help="cpu or cuda; default cpu")
    add("--threads", type=threads, default=1, metavar="N", help="threads that compute; default 1")
    add("--stream", action="store_true",
        help="read the encoder layer by layer from the file, for models larger than the memory; slower")  # fmt: skip
    add("--cache", type=Path, metavar="FILE",
        help="keep sentence vectors in this file, and reuse them in later runs")  # fmt: skip
    add("--cache-gib", type=positive, default=4, metavar="N",
        help="largest size of the cache file, in GiB; default 4")  # fmt: skip


def load_scorer(arguments: argparse.Namespace) -> "Scorer":
    """Load the scorer.  Raises InputError if the model cannot be read, or the device is missing."""
    import torch

    from weebill.metric.cache import VectorCache
    from weebill.metric.folder import load_metric
    from weebill.metric.scorer import Scorer, checked_precision

    torch.set_num_threads(arguments.threads)
    checked_precision(arguments.precision, arguments.device)  # before the model is read
    cache = arguments.cache and VectorCache(arguments.cache, arguments.cache_gib * 2**30)
    metric = load_metric(arguments.model, arguments.encoder, stream=arguments.stream)
    options = arguments.precision, arguments.device, cache
    return Scorer(metric, *options, stream=arguments.stream)


def run(arguments: argparse.Namespace) -> int:
    """Score and print.  Raises InputError if a file cannot be read, line counts differ, or the device is missing."""
    if arguments.bootstrap < RESAMPLES:
        raise InputError(
            f"--bootstrap {arguments.bootstrap}: a 95 % interval needs {RESAMPLES} resamples at least"
        )
    names = [str(path) for path in arguments.translations]
    references = [str(path) for path in arguments.references]
    for option, files in (("translations", names), ("references", references)):
        if len(set(files)) < len(files):
            raise InputError(f"--{option}: a file is named twice; name each once")
    check_streams([arguments.sources, *arguments.references, *arguments.translations])
    systems = {name: list(read_argument(name)) for name in names}
    sources = None if arguments.sources is None else list(read_argument(arguments.sources))
    others = {name: list(read_argument(name)) for name in references} or None
    given = {} if sources is None else {str(arguments.sources): sources}
    check_counts([*given.items(), *(others or {}).items(), *systems.items()])
    scorer = load_scorer(arguments)
    judged = scorer.judge(systems, sources, others, (str(arguments.sources), ""))
    scores = {name: one.scores for name, one in judged.items()}
    found, pairs = compared(scores, arguments.bootstrap)
    if arguments.json:
        several = references if len(references) > 1 else None
        told: dict[str, Any] = {
            "model": scorer.metric.name,
            "model_sha256": scorer.metric.sha256,
            "precision": scorer.precision,
            "sources": None if sources is None else str(arguments.sources),
            "references": several or next(iter(references), None),
            "bootstrap": arguments.bootstrap,
            "systems": [one | _details(judged[one["name"]]) for one in found],
            "comparisons": pairs,
        }
        print(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        print(_text(found, pairs, arguments.segments))
    return 0


def check_streams(paths: Sequence[Path | None]) -> None:
    """Raise InputError if standard input, which can be read only once, is named twice."""
    streams = [path for path in paths if str(path) in ("-", "/dev/stdin", "/dev/fd/0")]
    if len(streams) > 1:
        raise InputError("standard input is named twice; give one of the texts as a file")


def _details(judged: "Judgement") -> dict[str, Any]:
    """Return the parts of a system's scores, and the errors in its translations, by unbabel-comet's names."""
    parts = {name: values.tolist() for name, values in judged.parts.items()}
    return parts if judged.errors is None else parts | {"error_spans": judged.errors}


def compared(
    scores: dict[str, np.ndarray], bootstrap: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Compare systems, and pairs of them, by scores (segments,), with 95 % intervals if there are several."""
    from weebill.evaluation.quality.significance import (
        difference_of_means,
        interval,
        resampled_means,
    )

    table = np.stack([*scores.values()], axis=1).astype(np.float64)
    # All resamples of a single segment are equal, so the result would look certain.
    alone = len(table) < 2
    means, samples = table.mean(0), resampled_means(table, bootstrap)
    systems, pairs = [], []
    for i, name in enumerate(scores):
        low, high = (None, None) if alone else interval(samples[:, i])
        bounds = {"low": low, "high": high, "segments": table[:, i].tolist()}
        systems.append({"name": name, "score": float(means[i]), **bounds})
    for (i, one), (j, other) in combinations(enumerate(scores), 2):
        difference, paired = float(means[i] - means[j]), (None, None, None)
        if not alone:
            paired = difference_of_means(samples[:, i], samples[:, j], difference)
        bounds = dict(zip(("low", "high", "p_value"), paired, strict=True))
        pairs.append({"system": one, "other": other, "difference": difference, **bounds})
    return systems, pairs


def _text(systems: list[dict[str, Any]], pairs: list[dict[str, Any]], segments: bool) -> str:
    lines = []
    if segments:
        lines.append("\t".join(["segment", *(one["name"] for one in systems)]))
        rows = zip(*(one["segments"] for one in systems), strict=True)
        for number, row in enumerate(rows, start=1):
            lines.append("\t".join([str(number), *(f"{value:.4f}" for value in row)]))
        lines.append("")
    width = max(len(one["name"]) for one in systems)
    for one in systems:
        line = f"{one['name']:{width}}  {one['score']:.4f}"
        if one["low"] is not None:
            line += f"  95 % interval {one['low']:.4f} to {one['high']:.4f}"
        lines.append(line)
    for pair in pairs:
        line = f"{pair['system']} - {pair['other']}: {pair['difference']:+.4f}"
        if pair["low"] is not None:
            line += (
                f" ({pair['low']:+.4f} to {pair['high']:+.4f}), two-sided p = {pair['p_value']:.4f}"
            )
        lines.append(line)
    return "\n".join(lines)
