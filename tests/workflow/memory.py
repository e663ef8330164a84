"""Measure the memory that cleaning and translating need for a million lines and for a fifth of them.

python tests/workflow/memory.py --json docs/results/reliability/memory.json

Each task runs in its own process, on English and German sentences of Tatoeba that are numbered, so that no line
repeats.  The peak of a process's resident memory is the system's count of anonymous and file pages.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability import provenance
from tests.small_models import make_folder, make_whole_vocabulary
from weebill.corpus.table import SCHEMA, ShardWriter
from weebill.corpus.tatoeba import PAIRS, read_pairs

CLEAN = """
from weebill.corpus.cleaning.clean import Cleaning, clean_corpus
clean_corpus(sys.argv[1], sys.argv[2], ("en", "de"), Cleaning())
"""
TRANSLATE = """
from weebill.__main__ import main
assert main() == 0
"""
PEAK = """
[line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(line.split()[1], file=sys.stderr)
"""


def numbered_pairs(count: int) -> Iterator[tuple[str, str]]:
    """Yield pairs without repetition."""
    pairs = read_pairs()
    for number in range(count):
        source, target = pairs[number % PAIRS]
        yield f"{number}: {source}", f"{number}: {target}"


def peak(work: str, *arguments: str, **streams) -> int:
    """Run Python code with arguments in a new process; return the peak of its resident memory in KiB."""
    command = [sys.executable, "-c", f"import sys\n{work}{PEAK}", *arguments]
    ended = subprocess.run(command, **streams, stderr=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        raise SystemExit(ended.stderr)
    return int(ended.stderr.split()[-1])


def cleaning(count: int, place: Path) -> int:
    """Return the peak memory of cleaning `count` pairs in shards of 100,000."""
    table = place / f"table-{count}"
    with ShardWriter(table, SCHEMA) as writer:
        numbered = enumerate(numbered_pairs(count))
        while part := [*islice(numbered, 10_000)]:
            rows, pairs = zip(*part, strict=True)
            columns = [
                *zip(*pairs, strict=True),
                ["numbered"] * len(rows),
                rows,
                [None] * len(rows),
            ]
            arrays = [pa.array(one, field.type) for one, field in zip(columns, SCHEMA, strict=True)]
            writer.write(pa.table(arrays, schema=SCHEMA))
    return peak(CLEAN, str(table), str(place / f"cleaned-{count}"))


def translation(count: int, place: Path) -> int:
    """Return the peak memory of `weebill translate` for `count` lines."""
    model, lines = place / "model", place / f"lines-{count}"
    if not model.exists():
        make_folder(model, make_whole_vocabulary(place / "vocabulary"))
    with lines.open("w", encoding="utf-8") as file:
        file.writelines(f"{source}\n" for source, _ in numbered_pairs(count))
    with lines.open("rb") as source, (place / "translated").open("wb") as target:
        arguments = ("translate", str(model), "--threads", "1")
        return peak(TRANSLATE, *arguments, stdin=source, stdout=target)


WORKS = {"cleaning": cleaning, "translation": translation}


def main() -> None:
    """Measure each task on both amounts of text, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    few, found = given.lines // 5, {}
    with tempfile.TemporaryDirectory(prefix="weebill-memory-") as folder:
        for name, work in WORKS.items():
            found[name] = {count: work(count, Path(folder)) for count in (few, given.lines)}
            print(name, found[name], flush=True)
    if given.json:
        whole = {**provenance(0), "kib": found}
        given.json.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
