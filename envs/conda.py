"""Write envs/NAME.yaml, an environment in conda form, from its lock envs/NAME.txt.

`make conda` runs it.  The head of a file, to its line `- pip:`, is kept.  Packages that NAME.post-deploy.sh installs
are left out.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = ("main", "comet", "bicleaner")
PIN = re.compile(r"[\w.-]+==\S+")
INDEX = "--extra-index-url https://download.pytorch.org/whl/cpu"  # of PyTorch's builds without CUDA


def conda_form(name: str) -> str:
    """Return the text of an environment in conda form."""
    lock = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    later = FOLDER / f"{name}.post-deploy.sh"
    left_out = set(PIN.findall(later.read_text(encoding="utf-8"))) if later.exists() else set()
    pins = [line for line in lock if PIN.fullmatch(line) and line not in left_out]
    if any(pin.startswith("torch==") for pin in pins):
        pins.insert(0, INDEX)
    head = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").partition("  - pip:\n")[0]
    return f"{head}  - pip:\n" + "".join(f"      - {pin}\n" for pin in pins)


if __name__ == "__main__":
    for name in NAMES:
        text = conda_form(name)
        (FOLDER / f"{name}.yaml").write_text(text, encoding="utf-8")
