"""Choose the best of many translations of a sentence by minimum Bayes risk.

Candidates have the format of `weebill translate --nbest` and `--sample`: `LINE ||| TRANSLATION`, with lines counted
from 0, optionally followed by a score, or by features (F0= -1.2) and a score, as in Marian's n-best lists.  With
--candidates N, they are plain lines, N for each source.
"""

import argparse
import json
import re
from itertools import chain
from pathlib import Path

from weebill.arguments import positive
from weebill.commands.score import add_scorer_arguments, check_streams, load_scorer
from weebill.errors import InputError, abridged
from weebill.text_files import read_argument

SEPARATOR = " ||| "
LONGEST_NUMBER = 19  # most digits of a source's number
BEGINNING = re.compile(r"(\d+) \|\|\|( |$)")  # editors remove the blank before an empty translation
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf)"
FEATURE = rf"[^\s=]+=\s*{NUMBER}(?:\s+{NUMBER})*"  # such as F0= -1.2, WordScores= -0.1 -0.3
FEATURES = re.compile(rf"{FEATURE}(?:\s+{FEATURE})*", re.IGNORECASE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-s", "--sources", type=Path, required=True, metavar="FILE",
        help="one sentence per line; files may be plain, .gz, .xz or .zst, a pipe, or - for standard "
        "input")  # fmt: skip
    add("-t", "--translations", type=Path, required=True, metavar="FILE",
        help="file of the candidates")  # fmt: skip
    add("--candidates", type=positive, metavar="N",
        help="the file has N plain lines for each source")  # fmt: skip
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--model", metavar="MODEL", help="a COMET model, as in `weebill score`")
    which.add_argument("--utility", choices=("bleu", "chrf"),
        help="a sentence score of sacreBLEU in place of a model")  # fmt: skip
    add("--target", metavar="LANG",
        help="language of the translations, or a tokenizer of sacreBLEU, for BLEU's tokens: ja, zh, th, char; "
        "default: words")  # fmt: skip
    add_scorer_arguments(parser)
    add("--not-itself", action="store_true", help="do not use a candidate as its own reference")
    add("--aggregate", action="store_true",
        help="compare with the mean of the candidates' vectors: much faster, nearly the same choices")  # fmt: skip
    add("--keep", type=positive, metavar="N",
        help="choose among the N best by chrF; all candidates are references")  # fmt: skip
    add("--json", action="store_true",
        help="print a line of JSON for each source: all candidates with their utilities")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Choose candidates, and print one line for each source.  Raises InputError for bad input or options."""
    from weebill.metric.mbr import MetricUtility, SentenceUtility, decode_all

    _check(arguments)
    check_streams([arguments.sources, arguments.translations])
    sources = list(read_argument(arguments.sources))
    candidates = read_candidates(arguments.translations, len(sources), arguments.candidates)
    if arguments.utility == "bleu":
        from weebill.commands.bleu_target import require_target

        require_target(arguments.target, chain.from_iterable(candidates))
    if arguments.utility:
        utility = SentenceUtility(arguments.utility, arguments.target)
    else:
        utility = MetricUtility(load_scorer(arguments), aggregate=arguments.aggregate)
    chosen = decode_all(
        sources,
        candidates,
        utility,
        beside_itself=not arguments.not_itself,
        first=SentenceUtility("chrf") if arguments.keep else None,
        kept=arguments.keep,
    )
    for choices in chosen:
        if arguments.json:
            found = [{"text": one.text, "utility": one.utility} for one in choices]
            print(json.dumps(found, ensure_ascii=False), flush=True)
        else:
            print(choices[0].text, flush=True)
    return 0


def read_candidates(path: Path, sources: int, each: int | None = None) -> list[list[str]]:
    """Read the candidates of every source.  Raises InputError for bad lines.

    each: number of candidates per source if the lines are plain; None if they begin with the source's number.
    """
    lines = list(read_argument(path))
    if each is not None:
        if len(lines) != sources * each:
            expected = f"expected {each:,} for each of {sources:,} sources"
            raise InputError(f"{path}: {len(lines):,} lines, {expected}")
        return [lines[first : first + each] for first in range(0, len(lines), each)]
    found: list[list[str]] = [[] for _ in range(sources)]
    for number, line in enumerate(lines, start=1):
        beginning = BEGINNING.match(line)
        if beginning is None:
            raise InputError(
                f"{path}:{number}: expected LINE ||| TRANSLATION; plain lines want --candidates N"
            )
        source = int(beginning[1]) if len(beginning[1]) < LONGEST_NUMBER else sources
        if source >= sources:
            found_number = abridged(beginning[1], LONGEST_NUMBER)
            message = f"{path}:{number}: a candidate of source {found_number}, but there are {sources:,}, from 0"
            raise InputError(message)
        found[source].append(_translation(line[beginning.end() :]))
    for number, some in enumerate(found):
        if not some:
            raise InputError(f"{path}: no candidate of source {number}; give each source one")
    return found


def _translation(text: str) -> str:
    """Return a translation, which may contain the separator, without the score and features after it."""
    translation, separator, last = text.rpartition(SEPARATOR)
    try:
        float(last if separator else "")
    except ValueError:  # not a score, and features stand only before one
        return text
    text = translation
    while (parts := text.rpartition(SEPARATOR))[1] and FEATURES.fullmatch(parts[2]):
        text = parts[0]
    return text


def _check(arguments: argparse.Namespace) -> None:
    """Raise InputError for an option without effect: one for models with --utility, or --target without BLEU."""
    if arguments.target is not None and arguments.utility != "bleu":
        raise InputError("--target: only BLEU's tokens depend on it; leave it out")
    if arguments.target is not None:
        from weebill.commands.bleu_target import check_target  # imports sacreBLEU

        check_target(arguments.target)
    if arguments.aggregate and (arguments.utility or arguments.not_itself):
        raise InputError("--aggregate: is for a model, and without --not-itself; leave it out")
    if not arguments.utility:
        return
    of_models = argparse.ArgumentParser()
    add_scorer_arguments(of_models)
    given = [
        f"--{name.replace('_', '-')}"
        for name, default in vars(of_models.parse_args([])).items()
        if getattr(arguments, name) != default
    ]
    if given:
        raise InputError(
            f"{', '.join(given)}: of a COMET model, and --utility {arguments.utility} has none; "
            "leave out, or give --model instead"
        )
