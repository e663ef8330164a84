"""KenLM language models (Heafield et al. 2013): estimation by `lmplz`, and cross-entropy per word of lines.

They are modified Kneser-Ney models of words and single punctuation marks in lower case.
"""

import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from weebill.corpus.cleaning import writing_systems
from weebill.errors import InputError
from weebill.files import atomic_path, remove_folder


def tokens(text: str) -> str:
    """Return a line's words and marks (see `writing_systems`) in lower case, separated by spaces."""
    return " ".join(writing_systems.tokens(text.lower()))


def estimate(
    lines: Iterable[str],
    output: str | Path,
    order: int = 5,
    memory: str = "1G",
    prune: Sequence[int] = (0,),
    quantized: bool = False,
) -> None:
    """Estimate a modified Kneser-Ney model of some text, and write it as KenLM's trie, its smallest format.

    memory: memory for sorting (-S); the rest is on disk, next to `output`.
    prune: n-grams with at most this count are left out, by length; the last number is also for longer n-grams.
    quantized: store probabilities in 8 bits.
    Raises InputError if there is no text, or KenLM's programs are missing or fail.
    """
    output = Path(output)
    lmplz, build_binary = _program("lmplz"), _program("build_binary")
    work = output.with_name(f"{output.name}.work")
    if work.exists():  # from a killed job
        remove_folder(work)
    work.mkdir(parents=True)
    try:
        arpa, log = work / "model.arpa", work / "log"
        command = [lmplz, "-o", str(order), "-S", memory, "-T", f"{work}/", "--arpa", arpa]
        # Discounts are estimated from the numbers of n-grams by count; in a small text, some of these are 0.
        command += ["--discount_fallback"]
        if any(prune):
            command += ["--prune", *map(str, prune[:order])]
        if not _feed(command, lines, log):
            raise InputError(f"{output}: no text to estimate a language model on")
        with atomic_path(output) as partial, log.open("wb") as said:
            small = ["-q", "8", "-b", "8"] if quantized else []
            # 22 bits of each pointer are compressed (-a).
            command = [build_binary, "-a", "22", *small, "-T", f"{work}/", "-S", memory]
            command += ["trie", arpa, partial]
            code = subprocess.run(command, stdout=said, stderr=said, check=False).returncode
            if code:
                raise _failed(command, code, log)
    finally:
        remove_folder(work)


def _feed(command: list, lines: Iterable[str], log: Path) -> int:
    """Run a program on the tokens of some lines; return the number of lines."""
    count = 0
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said)
        try:
            # The program may end early, with a message.
            with suppress(BrokenPipeError), process.stdin as stdin:
                for text in filter(None, map(tokens, lines)):
                    count += 1
                    stdin.write(f"{text}\n".encode())
        except BaseException:
            process.kill()
            raise
        finally:
            code = process.wait()
    if code and count:
        raise _failed(command, code, log)
    return count


def _failed(command: list, code: int, log: Path) -> InputError:
    said = log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
    return InputError(
        f"{Path(command[0]).name} ended with code {code}: {' '.join(said[-3:])}; where memory or disk ran "
        "out, give more of it, or estimate the model on less text"
    )


def _program(name: str) -> str:
    """Return the path of a program of KenLM, in the folder of this Python or else on PATH."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise InputError(
            f"the program {name} of KenLM is not here; run `make setup`, or "
            "pip install --no-deps bicleaner-hardrules==2.10.8, which brings it"
        )
    return found


def cross_entropy(path: str | Path) -> Callable[[Sequence[str]], np.ndarray]:
    """Return a function from lines to (lines,) bits per word; the end of the line counts as a word.

    Raises InputError if the file is missing or is not a model of KenLM, or the module is missing.
    """
    try:
        import kenlm
    except ImportError as error:
        raise InputError("the module kenlm is not here; run `make setup`") from error
    if not Path(path).is_file():
        raise InputError(f"{path}: no such language model; check the path")
    try:
        model = kenlm.Model(str(path))
    except OSError as error:
        said = " ".join(str(error).split())
        raise InputError(f"{path}: not a model of KenLM ({said})") from error
    bits = -1 / math.log10(2)  # KenLM returns logarithms to base 10

    def scores(lines: Sequence[str]) -> np.ndarray:
        texts = map(tokens, lines)
        values = (bits * model.score(t) / (t.count(" ") + 2 if t else 1) for t in texts)
        return np.fromiter(values, float, len(lines))

    return scores
