"""The program weebill-translate in tests: its place, and model folders for it."""

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.quantization.listed import LISTED, listed_grids
from tests.runtime.conftest import network, quantized
from tests.small_models import TEXT, make_whole_vocabulary
from tests.workflow.running import REPOSITORY
from weebill.quantization.files import section
from weebill.runtime.shortlist import save_shortlist
from weebill.translation.model.packed_folder import save_any_model
from weebill_runtime.shortlist import Shortlist

PROGRAM = REPOSITORY / "dist/program/bin/weebill-translate"
GRIDS = {"float32": None, "int8": "mean-of-maxima", "int8_rowwise": "mean-of-maxima", "log4": None}
GRIDS |= dict.fromkeys(LISTED)  # which the program does not know by name
HARD = [
    *TEXT,
    "",
    " ",
    "Zoë’s “bird” 😀",
    "👩‍👩‍👧 family 🏴\U000e0067\U000e0062\U000e007f 1️⃣",
    "Her scien\u00adtist’s “bird”—it sings… \u00a0(50\u00a0% of 1\u00a0000 cm)",
    "\ufeffThe cafe\u0301 «opens» ''now'' `today' ...\"he says\" .\" <b> ( a ) ; : ) ! 5 %",
    "ﾊﾝｶｸ ｶﾞ ＡＢＣ １２３ ﷺ \u212b \u1100\u1161\u11a8 \u0344 \u1e9b\u0323",
    "می\u200cخواهم ก\u200bข क\u094d\u200dष a\u200db",
    "\x00tab\tnew\x0bline\u2028para\x85end\x1b[0m \r",
]
MARKS = (
    "\"'`´‘’“”„«»()[].,:;!?%-–—…\u00a0 \t\u200b\u200d\u00ad<nº0579cmC\u0301\u0327"
    "ñéßﬁ①あカｶﾞ한\u1100กکक漢😀🏽\ufe0f\U0001f3f4"
)


def random_lines(count: int, seed: int) -> list[str]:
    """Return random lines of words, marks and characters of all scripts."""
    draw = random.Random(seed)
    pool = [*MARKS, *MARKS, *" ".join(TEXT)]

    def character() -> str:
        if draw.random() < 0.9:
            return draw.choice(pool)
        code = draw.choice([draw.randrange(0x80, 0x3000), draw.randrange(0x110000)])
        return "?" if 0xD800 <= code < 0xE000 or code == ord("\n") else chr(code)

    return ["".join(character() for _ in range(draw.randrange(1, 40))) for _ in range(count)]


def make_folders(base: Path) -> dict[str, Path]:
    """Write a model folder in each precision, and a shortlist; return their paths by name."""
    vocabulary = make_whole_vocabulary(base / "vocab.spm")
    folders = {grid: base / grid for grid in GRIDS} | {"shortlist": base / "shortlist"}
    for grid, scales in GRIDS.items():
        model, described = network(pieces=len(vocabulary), head=24), None
        if grid != "float32":
            with listed_grids():
                model = quantized(model, grid, texts=vocabulary.encode_input(TEXT))
                described = section(grid, scales)
        save_any_model(folders[grid], model, vocabulary, {}, described)
    pieces = len(vocabulary)
    candidates = [
        [(7 * piece + i) % pieces if i <= piece % 5 else -1 for i in range(5)]
        for piece in range(pieces)
    ]
    frequent = np.arange(2, 40, 3, dtype=np.int32)
    shortlist = Shortlist(np.array(candidates, np.int32), frequent, vocabulary.sha256)
    save_shortlist(shortlist, folders["shortlist"])
    return folders


def text_of(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def run_program(program: Sequence[str | Path], *arguments: str | Path, text: bytes = b""):
    """Run the program on a text; skip the test if the program is not built."""
    if not Path(program[-1]).is_file():
        pytest.skip("weebill-translate is not built; `make program` does it")
    command = [*map(str, program), *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True)
