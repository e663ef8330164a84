"""Translate standard input, one sentence per line, to standard output; several models form an ensemble.

A line has at most 1 MiB.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from weebill.ahead import called_ahead
from weebill.arguments import add_threads, beam, positive
from weebill.errors import InputError
from weebill.text_files import decoded_lines, standard_input

if TYPE_CHECKING:
    from weebill_runtime.options import Cut, SearchOptions
    from weebill_runtime.text_translator import TextTranslator

WINDOW, GPU_WINDOW = 4096, 65_536  # lines; a GPU translates its window in seconds
AHEAD = 3  # windows in work at once on a GPU
# A window of long lines has fewer lines, because each character takes about 100 bytes of memory.
LINE_CHARACTERS, WINDOW_CHARACTERS = 1 << 10, 1 << 24
SAMPLED_ROWS = 512  # approximate number of translations drawn in parallel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("models", nargs="+", metavar="MODEL",
        help="a model folder, or a folder with one model for each precision; several are an ensemble")  # fmt: skip
    add("--precision", metavar="P",
        help="which of the models below MODEL, such as int8; or on a GPU float16 or bfloat16, in which the float32 "
        "model computes faster")  # fmt: skip
    add("--beam", type=beam, default=1, metavar="N",
        help="hypotheses that the search keeps; default 1: greedy search")  # fmt: skip
    add("--nbest", type=beam, metavar="N",
        help="print the N best of each line as `line ||| translation ||| score`, with lines from 0")  # fmt: skip
    add("--sample", type=beam, metavar="N",
        help="draw N translations of each line at random instead, in the same format")  # fmt: skip
    add("--temperature", type=float, metavar="T",
        help="with --sample: a value below 1 prefers probable pieces; default 1")  # fmt: skip
    add("--epsilon", type=float, metavar="E",
        help="with --sample: less probable pieces are never drawn; default 0.02")  # fmt: skip
    add("--seed", type=int, metavar="S", help="with --sample: seed of the draw; default 1")
    add("--length-normalisation", type=float, default=1.0, metavar="A",
        help="exponent A of the score log p / length^A; default 1")  # fmt: skip
    add("--shortlist", metavar="FILE", help="translate with the pieces of this shortlist only")
    add("--batch-size", type=positive, metavar="N",
        help="sentences in a batch; default: as many as the runtime or a GPU is fastest with, 32 in PyTorch on the "
        "processor")  # fmt: skip
    add("--window", type=positive, metavar="N",
        help="lines that are read, sorted by length and translated together; 1 translates each line at once; "
        f"default {WINDOW}, {GPU_WINDOW} on a GPU, and 1 if the lines are typed on a terminal")  # fmt: skip
    add("--max-length", type=positive, metavar="N",
        help="largest number of pieces of a sentence; longer lines are split at the ends of sentences, longer "
        "sentences at clauses, commas or words, and longer words are cut; default 200")  # fmt: skip
    add_threads(parser)
    add("--isa", metavar="SET",
        help="instruction set, such as avx2 or dotprod, or portable (PyTorch); default: the fastest")  # fmt: skip
    add("--device", default="cpu", help="cpu, cuda, cuda:1, …; default cpu")
    add("--languages", nargs=2, metavar=("FROM", "TO"),
        help="for a Hugging Face model of many languages: codes such as en de, or the model's own")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Translate each input line to one output line, to at most N lines with --nbest, or to N lines with --sample.

    Weebill models on the processor translate by the runtime, others by PyTorch.  Stderr names each line that is cut.
    Raises InputError for bad input or options; lines before a line that is not UTF-8 are translated.
    """
    nbest = arguments.nbest
    if arguments.sample and (nbest or arguments.beam > 1):
        raise InputError("translate: --sample draws; leave out --beam and --nbest, which search")
    if (drawing := _drawing(arguments)) and not arguments.sample:
        raise InputError(f"translate: --{next(iter(drawing))} is for --sample; add --sample N")
    if nbest and nbest > arguments.beam:
        raise InputError(f"translate: --nbest {nbest} needs --beam {nbest} or more")
    from weebill.runtime.loading import limit_torch, load

    options = _options(arguments)
    translator = load(
        arguments.models,
        arguments.precision,
        device=arguments.device,
        threads=arguments.threads,
        isa=arguments.isa,
        shortlist=arguments.shortlist,
        languages=arguments.languages and tuple(arguments.languages),
    )
    asked, positions = arguments.max_length, translator.positions
    if asked is not None and positions is not None and asked > positions:
        raise InputError(
            f"translate: --max-length {asked}: {arguments.models[0]} reads at most {positions} pieces; "
            f"choose a number up to {positions}, and split longer lines"
        )
    numbered = bool(nbest or arguments.sample)
    searches = numbered or arguments.beam > 1 or len(arguments.models) > 1
    if searches:
        import torch  # noqa: F401  takes seconds, and the engine searches greedily without it
    limit_torch(translator, arguments.threads, arguments.device)
    lines, first, words = decoded_lines(standard_input(), "standard input"), 0, 0
    typed, start = sys.stdin.isatty(), time.perf_counter()
    rate = sys.stderr.isatty() and not typed
    if typed:
        print("Type a line and press Enter; Ctrl-D ends.", file=sys.stderr, flush=True)
    try:
        many = WINDOW if arguments.device == "cpu" else GPU_WINDOW
        windows = _windows(lines, arguments.window or (1 if typed else many))
        ahead = AHEAD if many == GPU_WINDOW and translator.shareable else 1
        for window, answer in _answers(translator, windows, options, numbered, ahead):
            for line in answer:
                sys.stdout.buffer.write(line.replace("\n", " ").encode("utf-8") + b"\n")
            sys.stdout.buffer.flush()
            first += len(window)
            words += sum(len(line.split()) for line in window)
            told = f"\r{first:,} lines, {words / (time.perf_counter() - start):,.0f} words/s"
            if rate:
                print(told, end="", file=sys.stderr, flush=True)
    finally:  # also before an error message
        if rate and first:
            print(file=sys.stderr)
    return 0


def _windows(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    """Yield windows of `size` lines; for a bad line, yield the lines before it, then raise its InputError.

    A window has fewer lines if these are longer than LINE_CHARACTERS on average.
    """
    window: list[str] = []
    characters, most = 0, min(size * LINE_CHARACTERS, WINDOW_CHARACTERS)
    try:
        for line in lines:
            window.append(line)
            characters += len(line)
            if len(window) == size or characters >= most:
                yield window
                window, characters = [], 0
    except InputError:
        if window:
            yield window
        raise
    if window:
        yield window


def _answers(
    translator: "TextTranslator",
    windows: Iterator[list[str]],
    options: "SearchOptions",
    numbered: bool,
    ahead: int,
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each window with its translations, which have scores and line numbers if they are `numbered`.

    ahead: number of windows in work at once, for a GPU: while one is searched, others are divided into pieces, or
    joined from them.
    """

    def answer(task: tuple[int, list[str]]) -> tuple[list[str], list[str]]:
        first, window = task
        one = translator.sharing(partial(_tell_cut, first, translator.positions))
        if not numbered:
            return window, one.translate(window, options)
        return window, [
            f"{number} ||| {hypothesis.text} ||| {hypothesis.score:.6f}"
            for number, found in enumerate(one.nbest(window, options), start=first)
            for hypothesis in found
        ]

    def tasks() -> Iterator[tuple[int, list[str]]]:
        first = 0
        for window in windows:
            yield first, window
            first += len(window)

    return called_ahead(answer, tasks(), ahead)


def _tell_cut(first: int, positions: int | None, cut: "Cut") -> None:
    """Report a line that is cut on stderr; first: number of lines before its window."""
    remedy = "--max-length N translates more, or split the line"
    if positions is not None and cut.kept >= positions:
        remedy = "the model reads no more; split the line"
    begin = "\n" if first and sys.stderr.isatty() else ""  # after the line that shows the rate
    place = f"standard input:{first + cut.sentence + 1}"
    print(f"{begin}weebill: {place}: {cut}; {remedy}", file=sys.stderr, flush=True)


def _options(arguments: argparse.Namespace) -> "SearchOptions":
    from weebill_runtime.options import Sampling, SearchOptions

    longest = {} if arguments.max_length is None else {"max_source_tokens": arguments.max_length}
    batch_size, sampling = arguments.batch_size, None
    if batch_size is None and arguments.sample:  # about as many rows as with a beam
        batch_size = max(1, SAMPLED_ROWS // arguments.sample)
    try:
        if arguments.sample:
            sampling = Sampling(**_drawing(arguments))
        return SearchOptions(
            beam=arguments.beam,
            nbest=arguments.nbest or arguments.sample or 1,
            batch_size=batch_size,
            length_normalisation=arguments.length_normalisation,
            sampling=sampling,
            **longest,
        )
    except ValueError as error:
        raise InputError(f"translate: {error}") from error


def _drawing(arguments: argparse.Namespace) -> dict[str, float]:
    """Return the given options of sampling."""
    names = ("temperature", "epsilon", "seed")
    return {name: value for name in names if (value := getattr(arguments, name)) is not None}
