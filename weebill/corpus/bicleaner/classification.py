"""Scoring of pairs with a bicleaner-ai model, in bicleaner's environment."""

import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from weebill.errors import InputError
from weebill.files import atomic_path, content_hash, move_folder, unfinished_work
from weebill.replaceable import FolderKind, check_replaceable
from weebill.text_files import LONGEST_RECORD, read_lines

log = logging.getLogger(__name__)

# Function from sources and targets, each (rows,), to probabilities (rows,) that they are translations of each other.
Classifier = Callable[[list[str], list[str]], Sequence[float]]

BLOCK_ROWS = 8192  # rows scored at once
FULL_BATCH_ROWS, LITE_BATCH_ROWS = 32, 256  # rows in a forward pass of a full or lite model
SCORES = FolderKind(perhaps=("part-*.txt",))
ANY = ("xx", "xxx")  # language codes of multilingual models


def part_paths(pairs: str | Path) -> list[Path]:
    """Return the parts of a folder of pairs, in order."""
    return sorted(Path(pairs).glob("part-*.tsv.gz"))


def score_path(part: Path, scores: str | Path) -> Path:
    """Return the file of a part's scores."""
    return Path(scores) / part.name.replace(".tsv.gz", ".txt")


def score_pairs(
    pairs: str | Path,
    output: str | Path,
    load: Callable[[], Classifier],
    made_by: Mapping[str, Any],
    block_rows: int = BLOCK_ROWS,
) -> None:
    """Write the folder `output` with one score per line for each part of `pairs`.

    load: function that loads the classifier; it is called only if a part has no scores yet.
    made_by: everything else that scores depend on, as JSON values.
    Finished parts are kept in `OUTPUT.work`, so that a killed job continues there.
    Raises InputError if a line is not a pair, or if a part has more or fewer scores than lines.
    """
    check_replaceable(output, SCORES)
    with unfinished_work(output, {"pairs": content_hash(pairs), "made_by": dict(made_by)}) as work:
        (work / "scores").mkdir(exist_ok=True)
        classifier = None
        for part in part_paths(pairs):
            path = score_path(part, work / "scores")
            if not path.exists():
                classifier = classifier or load()
                _score_part(part, path, classifier, block_rows)
        move_folder(work / "scores", output, SCORES)


def _score_part(part: Path, path: Path, classifier: Classifier, block_rows: int) -> None:
    start, rows, lines = time.monotonic(), 0, _pairs(part)
    with atomic_path(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        while block := list(islice(lines, block_rows)):
            sources, targets = map(list, zip(*block, strict=True))
            scores = [float(score) for score in classifier(sources, targets)]
            if len(scores) != len(block):
                raise InputError(f"{part}: {len(scores):,} scores for {len(block):,} pairs")
            file.writelines(f"{score!r}\n" for score in scores)
            rows += len(block)
    speed = rows / max(time.monotonic() - start, 1e-9)
    log.info("%s: %s pairs scored, %.0f a second", part, f"{rows:,}", speed)


def _pairs(part: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(part, LONGEST_RECORD), start=1):
        cells = line.split("\t")
        if len(cells) != 2:
            raise InputError(f"{part}:{number}: {len(cells)} columns, expected 2")
        yield cells[0], cells[1]


def load_classifier(
    model: str | Path, languages: tuple[str, str], hard_rules: bool = False, threads: int = 1
) -> Classifier:
    """Load a bicleaner-ai model of any kind.

    languages: codes of source and target; a model of the opposite direction also works, with swapped sides.
    hard_rules: give 0 to pairs that bicleaner-hardrules or the model's other filters reject; its language
    identification is not used, because it would fetch a model.  A lite model's file contains code, which loading
    executes.  Raises InputError if the folder holds no model, or a model of other languages.
    """
    metadata = Path(model) / "metadata.yaml"
    if not metadata.is_file():
        message = f"{model}: no bicleaner-ai model, metadata.yaml is missing; check scoring.bicleaner.model"
        raise InputError(message)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # TensorFlow logs only errors
    from bicleaner_ai.classify import argument_parser, load_metadata

    _limit_threads(threads)
    parser, _, _ = argument_parser()
    arguments = parser.parse_args([os.devnull, os.devnull, str(model), "--quiet"])
    arguments.metadata = str(metadata)
    if not hard_rules:
        arguments.disable_hardrules = arguments.disable_lm_filter = True
    try:
        arguments = load_metadata(arguments, parser)
    except SystemExit as error:  # bicleaner-ai has logged the reason
        raise InputError(f"{model}: bicleaner-ai cannot read this model; see the log") from error
    swapped = _swapped(model, arguments, languages)
    rules = None
    if hard_rules:
        from hardrules.hardrules import Hardrules

        arguments.disable_lang_ident = True
        rules = Hardrules(arguments)
    full = arguments.metadata_yaml["classifier_type"] == "xlmr"
    batch_rows = FULL_BATCH_ROWS if full else LITE_BATCH_ROWS

    def classifier(sources: list[str], targets: list[str]) -> list[float]:
        sides = (targets, sources) if swapped else (sources, targets)
        rows = zip(*(map(str.strip, side) for side in sides), strict=True)
        judged = {
            row: pair
            for row, pair in enumerate(rows)
            if all(pair) and (rules is None or not rules.wrong_tu(*pair))
        }
        scores = [0.0] * len(sources)
        if judged:
            texts = map(list, zip(*judged.values(), strict=True))
            for row, value in zip(judged, arguments.clf.predict(*texts, batch_rows), strict=True):
                scores[row] = float(value[0])
        return scores

    return classifier


def _limit_threads(threads: int) -> None:
    import tensorflow as tf  # after bicleaner_ai, which selects the Keras version

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def _swapped(model: str | Path, arguments: Any, languages: tuple[str, str]) -> bool:
    """Return True if a model reads the target first."""
    known = (arguments.source_lang, arguments.target_lang)
    for swapped, pair in ((False, languages), (True, languages[::-1])):
        # A model for pt also fits pt-BR.
        fits = (
            has in (wants, re.split("[-_]", wants)[0], *ANY)
            for has, wants in zip(known, pair, strict=True)
        )
        if all(fits):
            return swapped
    raise InputError(
        f"{model}: a model of {'-'.join(known)}, expected {'-'.join(languages)} or its reverse; "
        "name another in scoring.bicleaner.model, or leave it out to train one"
    )
