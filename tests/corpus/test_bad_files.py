"""Damaged corpora in a workflow run: a clear line for each, exit code 1, and no output."""

import gzip
import hashlib

import pytest
import yaml

from tests.workflow.running import TINY, snakemake

GOOD = b"Das Haus ist alt.\nNiemand kennt die Antwort.\n"
# Bytes of the target file (the source file has two lines), and text that the error must contain.
DAMAGE = {
    "short": (b"Eine Zeile.\n", ["has 2 lines", "has 1;"]),
    "latin1": (b"Die T\xfcr.\nDas Haus.\n", [".de:1: not UTF-8"]),
    "empty": (b"", ["empty file"]),
    "nul": (b"Das\x00Haus.\nDie Katze.\n", [".de:1: a NUL character"]),
    "tab": (b"Das Haus.\nDie\tKatze.\n", [".de:2: a tab"]),
    "truncated": (gzip.compress(GOOD * 500)[:-20], [".de.gz: damaged or truncated"]),
}


def imported(folder, targets, sha256=None):
    """Run an import of corpora with these bytes as targets; sha256: the expected hash of every target."""
    corpora = {}
    for name, target in targets.items():
        suffix = ".gz" if target[:2] == b"\x1f\x8b" else ""
        source = folder / f"{name}.en"
        source.write_bytes(
            b"The house is old.\nNobody knows the answer.\n" * (500 if suffix else 1)
        )
        (folder / f"{name}.de{suffix}").write_bytes(target)
        files = {"source": str(source), "target": str(folder / f"{name}.de{suffix}")}
        corpora[name] = {"importer": "files", "use": "parallel", **files}
        if sha256:
            good = hashlib.sha256(source.read_bytes()).hexdigest()
            corpora[name]["sha256"] = {"source": good, "target": sha256}
    config = {**yaml.safe_load(TINY.read_text()), "corpora": corpora}
    (folder / "damaged.yaml").write_text(yaml.safe_dump(config))
    tables = [f"results/tiny/corpora/{name}/imported" for name in targets]
    arguments = ["--cores", "2", "--keep-going", "--notemp", *tables]
    return snakemake(folder, folder / "damaged.yaml", *arguments)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the import of all damaged corpora; return the run and its folder."""
    folder = tmp_path_factory.mktemp("damaged")
    return imported(folder, {name: target for name, (target, _) in DAMAGE.items()}), folder


@pytest.mark.parametrize("name", DAMAGE)
def test_one_line_names_the_place(run, name):
    done, folder = run
    assert done.returncode == 1, done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("weebill: ")]
    lines = [line for line in lines if f"corpus '{name}'" in line]
    assert len(lines) == 1, done.stdout
    (line,) = lines
    assert all(part in line for part in DAMAGE[name][1]), line
    assert not (folder / "results/tiny/corpora" / name).exists()


def test_nothing_else_is_said_or_left(run):
    done, folder = run
    assert "Traceback" not in done.stdout
    lines = {line for line in done.stdout.splitlines() if line.startswith("weebill: ")}
    assert len(lines) == len(DAMAGE)
    left = [path for path in (folder / "results").rglob("*") if path.is_file()]
    left = {path.name for path in left if path.suffix not in (".log", ".tsv")}
    assert left == {"code.json", "configuration.json", "sources.lock.json", ".run.lock"}


def test_a_wrong_checksum_is_told_before_anything_is_imported(tmp_path):
    done = imported(tmp_path, {"good": GOOD, "other": GOOD}, sha256="0" * 64)
    assert done.returncode == 1, done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("weebill: ")]
    assert "corpora.good: " in line and "sha256 is" in line and "expected 0000" in line
    assert not list((tmp_path / "results/tiny/corpora").glob("*/imported"))
