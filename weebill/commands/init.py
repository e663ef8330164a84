"""Write a first configuration for your own text, with models and training lengths that fit the text and the machine.

TEXT is two files (SOURCE TARGET), a table of tab-separated values with source and target in its first two columns, or
a name: opus:NAME:VERSION, mtdata:NAME or, for a test set, sacrebleu:NAME.  On a terminal, the command asks for
missing arguments.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weebill.arguments import positive, real, threads, whole
from weebill.commands.describe import zoo_names
from weebill.errors import InputError

if TYPE_CHECKING:
    from weebill.configuration.draft import Request

NAMED = {"opus": ("name", "version"), "mtdata": ("name",), "sacrebleu": ("name",)}
HOURS = real(0, 1e6, above=True)
TABLES = (".tsv", ".tsv.gz", ".tsv.xz", ".tsv.zst")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weebill init`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    text = {"nargs": "+", "metavar": "TEXT"}
    add = parser.add_argument
    add("config", metavar="CONFIG", help="file to write, such as config/mine.yaml")
    add("--languages", nargs=2, metavar=("SOURCE", "TARGET"), help="codes, such as en de")
    add("--corpus", action="append", **text, help="parallel training text; may be repeated")
    add("--monolingual", action="append", default=[], metavar="FILE",
        help="text of the source language, which the teacher translates; may be repeated")  # fmt: skip
    add("--validation", **text,
        help="text that chooses the best checkpoint; by default the first lines of the first corpus")  # fmt: skip
    add("--test", action="append", default=[], **text,
        help="test set; may be repeated; by default the next lines of the first corpus")  # fmt: skip
    teacher = add("--teacher", metavar="MODEL", help="entry of the zoo, or a Hugging Face model: its folder, or "
        "NAME@COMMIT on the hub; by default one is trained")  # fmt: skip
    teacher.completer = zoo_names
    add("--pairs", type=positive, metavar="N",
        help="sentence pairs of a corpus that is fetched later")  # fmt: skip
    add(
        "--cores", type=threads, metavar="N", help="processor cores; default: those of this machine"
    )
    add("--memory", type=real(0, 1e6, above=True), metavar="GIB",
        help="memory; default: that of this machine")  # fmt: skip
    add("--gpus", type=whole(0, 4096), metavar="N", help="GPUs; default: those of this machine")
    add("--hours", type=HOURS, metavar="H",
        help="longest time of the run; by default as long as the text needs")  # fmt: skip
    add("--force", action="store_true", help="replace an existing CONFIG")


def run(arguments: argparse.Namespace) -> int:
    """Write the configuration.  Raises InputError, and writes nothing, for faults that a run would report."""
    from weebill.configuration.checking import check, missing_files, unfit_models
    from weebill.configuration.cleaning_sample import sample_texts
    from weebill.configuration.draft import draft
    from weebill.configuration.draft_text import as_yaml
    from weebill.files import write_text
    from weebill.yaml_files import parse_yaml

    path = Path(arguments.config)
    if path.exists() and not arguments.force:
        raise InputError(f"{path}: exists; name another file, or replace it by --force")
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(f"{path}: no name of a configuration; it ends in .yaml")
    if sys.stdin is not None and sys.stdin.isatty():
        _ask(arguments)
    request = _request(arguments, path.stem)
    made = draft(request)
    text = as_yaml(request, made)
    config = check(parse_yaml(text, path), str(path))
    unreadable, warnings = sample_texts(config)
    if faults := [*missing_files(config), *unfit_models(config), *unreadable]:
        raise InputError("\n".join(f"{path}: {line}" for line in faults))
    write_text(path, text)
    if request.machine.hours is not None and made.hours > request.machine.hours:
        told = f"the fastest models and lengths still need about {made.hours:,.1f} hours"
        warnings.append(told)
    if made.memory_gib > request.machine.memory_gib:
        told = f"the smallest models and batches still need about {made.memory_gib:,.1f} GiB"
        warnings.append(f"{told} of memory")
    for line in warnings:
        print(f"{path}: {line}", file=sys.stderr)
    print(f"{path}: written; read it, then\n  weebill check {path}\n  weebill run {path}")
    return 0


def _ask(arguments: argparse.Namespace) -> None:
    """Ask for missing arguments; an empty answer means the default in brackets."""

    def answer(question: str) -> list[str]:
        try:
            return input(f"{question}: ").split()
        except EOFError:
            print(file=sys.stderr)  # ends the line of the question
            raise InputError(
                "init: no answer; give what is asked as arguments, see `weebill init --help`"
            ) from None

    while arguments.languages is None or len(arguments.languages) != 2:
        arguments.languages = answer("Languages, source and target, such as en de")
    while not arguments.corpus:
        words = answer("Parallel text: two files, a .tsv table, opus:NAME:VERSION or mtdata:NAME")
        arguments.corpus = [words] if words else None
    if arguments.validation is None:
        arguments.validation = answer("Validation text [lines held out of the corpus]") or None
    if not arguments.test:
        words = answer("Test set, such as sacrebleu:wmt19 [lines held out of the corpus]")
        arguments.test = [words] if words else []
    if arguments.teacher is None:
        question = "Teacher: a Hugging Face model, a folder or NAME@COMMIT [one is trained]"
        arguments.teacher = next(iter(answer(question)), None)
    while arguments.hours is None:
        hours = answer("Longest run, in hours [as long as the text needs]")
        if not hours:
            break
        try:
            arguments.hours = HOURS(hours[0])
        except argparse.ArgumentTypeError as error:
            print(error)


def _request(arguments: argparse.Namespace, experiment: str) -> "Request":
    from weebill.configuration.draft import Machine, Request
    from weebill.workflow import machine
    from weebill.workflow.gpus import known_gpus

    for key in ("languages", "corpus"):
        if not getattr(arguments, key):
            raise InputError(f"init: --{key} is missing; `weebill init --help` shows the arguments")
    corpora = _entries("--corpus", arguments.corpus)
    for file in arguments.monolingual:
        entry = {"importer": "files", "use": "monolingual", "source": file}
        corpora[_free(_name([file]), corpora)] = entry
    validation = arguments.validation and _entry("--validation", arguments.validation)
    gpus = len(set(known_gpus())) if arguments.gpus is None else arguments.gpus
    cores = arguments.cores or machine.cores()
    memory = arguments.memory or round(machine.memory() / 2**30, 1)
    return Request(
        experiment=experiment,
        languages=tuple(arguments.languages),
        corpora=corpora,
        machine=Machine(cores, memory, gpus, arguments.hours),
        validation=validation,
        test_sets=_entries("--test", arguments.test),
        teacher=arguments.teacher,
        pairs=arguments.pairs,
    )


def _entries(option: str, texts: Iterable[Sequence[str]]) -> dict[str, dict[str, Any]]:
    """Return the entries of some texts, by names derived from the texts' names."""
    entries: dict[str, dict[str, Any]] = {}
    for words in texts:
        entries[_free(_name(words), entries)] = _entry(option, words)
    return entries


def _entry(option: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the entry of a text.  Raises InputError if the words do not name a text."""
    if len(words) == 2:
        return {"importer": "files", "source": words[0], "target": words[1]}
    importer, *values = words[0].split(":")
    keys = NAMED.get(importer, ())
    if importer == "sacrebleu" and option == "--corpus":
        raise InputError(
            f"init: --corpus {words[0]}: sacreBLEU has test sets alone; name it by --test or --validation"
        )
    if len(words) == 1 and keys and len(values) == len(keys):
        return {"importer": importer, **dict(zip(keys, values, strict=True))}
    if len(words) == 1 and words[0].endswith(TABLES):
        return {"importer": "files", "table": words[0], "columns": {"source": 0, "target": 1}}
    raise InputError(
        f"init: {option} {' '.join(words)}: no text; name two files SOURCE TARGET, a table {TABLES[0]}, or "
        "opus:NAME:VERSION, mtdata:NAME, sacrebleu:NAME"
    )


def _name(words: Sequence[str]) -> str:
    """Return a short name for a text, such as train for data/train.en.gz."""
    word = words[0].partition(":")[2].partition(":")[0] if len(words) == 1 else ""
    stem = Path(word or words[0]).name.partition(".")[0]
    return (
        re.sub(r"[^A-Za-z0-9_-]+", "-", stem)[:60].strip("-_") or "text"
    )  # names have at most 64 letters


def _free(name: str, taken: Iterable[str]) -> str:
    """Return the name, with a number if it is taken."""
    known, number, free = set(taken), 1, name
    while free in known:
        number, free = number + 1, f"{name}{number + 1}"
    return free
