"""Translate standard input, a sentence a line, to standard output; several models are an ensemble."""

import argparse
import sys
from itertools import islice

from goldcrest.commands.arguments import positive
from goldcrest.errors import InputError
from goldcrest.text_files import decoded_lines

HELP = "translate lines of text"
WINDOW = 4096  # lines that are sorted by length, translated and written together


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `goldcrest translate`."""
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a model folder")
    parser.add_argument("--beam", type=positive, default=1, metavar="N", help="default 1: greedy")
    parser.add_argument(
        "--nbest",
        type=positive,
        metavar="N",
        help="the N best of each line, as `line ||| translation ||| score`, lines from 0",
    )
    parser.add_argument("--length-normalisation", type=float, default=1.0, metavar="A",
                        help="score = log p / length^A; default 1")  # fmt: skip
    parser.add_argument("--batch-size", type=positive, default=32, metavar="N", help="default 32")
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="default 1")
    parser.add_argument("--device", default="cpu", help="default cpu; or cuda, cuda:1, …")


def run(arguments: argparse.Namespace) -> int:
    """Translate; as many lines come out as went in, with --nbest up to N for each.

    Raises InputError where a model cannot be read, a line is not UTF-8, the device is not there, or N
    exceeds the beam.
    """
    if arguments.nbest and arguments.nbest > arguments.beam:
        raise InputError(
            f"translate: --nbest {arguments.nbest} needs --beam {arguments.nbest} or more"
        )
    import torch

    from goldcrest.translation.search import SearchOptions
    from goldcrest.translation.translator import load_translator

    torch.set_num_threads(arguments.threads)
    translator = load_translator(arguments.models, _device(arguments.device))
    options = SearchOptions(
        beam=arguments.beam,
        nbest=arguments.nbest or 1,
        batch_size=arguments.batch_size,
        length_normalisation=arguments.length_normalisation,
    )
    lines, first = decoded_lines(sys.stdin.buffer, "standard input"), 0
    while window := list(islice(lines, WINDOW)):
        if arguments.nbest:
            for number, found in enumerate(translator.nbest(window, options), start=first):
                for one in found:
                    _write(f"{number} ||| {one.text} ||| {one.score:.6f}")
        else:
            for text in translator.translate(window, options):
                _write(text)
        sys.stdout.buffer.flush()
        first += len(window)
    return 0


def _write(line: str) -> None:
    sys.stdout.buffer.write(line.replace("\n", " ").encode("utf-8") + b"\n")


def _device(name: str) -> str:
    import torch

    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"--device {name}: not available here; use cpu") from error
    return name
