"""Mistakes in the texts that a configuration defines: the full error lines."""

import pytest

from weebill.configuration.checking import check, missing_files

SUM = "a" * 64
URL = {"importer": "address", "sha256": SUM}
FILE = {"importer": "files", "source": "x.en"}
LANGUAGE = "language: missing, expected the language of the text"

# name: (definition of origins.own, expected lines without origins.own)
CASES = {
    "no address": (
        {**URL, "url": "x.txt"},
        ["url: found 'x.txt', expected an address https://…; a file is named by its path"],
    ),
    "an address without a host": (
        {**URL, "url": "https://[a/b.txt"},
        ["url: found 'https://[a/b.txt', whose host or port is none; mend the address"],
    ),
    "an archive without a member": (
        {**URL, "url": "https://a/b.v1.tar.gz?x=1"},
        ["member: missing, expected a pattern of one file in 'https://a/b.v1.tar.gz?x=1'"],
    ),
    "another archive": (
        {**URL, "url": "https://a/b.tar.xz", "member": "*.en"},
        ["url: found 'https://a/b.tar.xz', expected a .zip or .tar.gz, or a file alone"],
    ),
    "neither file nor table": (
        {"importer": "files"},
        [": found neither, expected one of source, table"],
    ),
    "the other side": (
        {**FILE, "side": "target"},
        ["target: missing, expected the target side of monolingual-target text"],
    ),
    "another definition": (
        {**FILE, "source": "origin:own"},
        ["source: found 'origin:own', expected a file: no text is made of another"],
    ),
    "lines that are none": (
        {**FILE, "lines": {"first": 5, "last": 2}},
        ["lines.last: found 2, expected at least lines.first 5"],
    ),
    "no language": ({"importer": "opus", "name": "Europarl", "version": "v8"}, [LANGUAGE]),
    "an unknown data set": (
        {"importer": "mtdata", "name": "Statmt-x-1-deu-eng", "language": "de"},
        ["name: no data set 'Statmt-x-1-deu-eng' in mtdata; did you mean"],
    ),
    "a test set, which is chosen by two languages": (
        {"importer": "sacrebleu", "name": "wmt19", "language": "de"},
        ["importer: found 'sacrebleu', expected one of address, files, hugging_face, mtdata, opus"],
    ),
}


@pytest.mark.parametrize(
    ("definition", "expected"), [pytest.param(*case, id=name) for name, case in CASES.items()]
)
def test_lines(faults, definition, expected):
    found = faults({"origins": {"own": definition}}, [])
    lines = [f"origins.own{'' if line.startswith(':') else '.'}{line}" for line in expected]
    assert len(found) == len(lines)
    assert all(one.startswith(line) for one, line in zip(found, lines, strict=True)), found


def test_definitions_whose_files_are_missing(experiment, zoo, tmp_path, monkeypatch):
    """A table may have both sides, and the address of an archive need not end with a file name."""
    monkeypatch.chdir(tmp_path)
    origins = {
        "file": FILE,
        "table": {"importer": "files", "table": "x.tsv", "columns": {"source": 0, "target": 1}},
        "german": {"importer": "opus", "name": "New", "version": "v1", "language": "de"},
        "plain": {**URL, "url": "https://a/b.txt.gz"},
        "archive": {**URL, "url": "https://a/download?id=5", "member": "*.en"},
    }
    config = check(experiment({"origins": origins}), "trial.yaml", zoo)
    found = [line.split(";")[0] for line in missing_files(config) if line.startswith("origins")]
    assert found == [
        "origins.file.source: no such file or folder: x.en",
        "origins.table.table: no such file or folder: x.tsv",
    ]


def test_names_of_public_texts_and_of_their_folders(faults):
    """Names must not conflict, because all texts are made in one folder."""
    own = {name: {**URL, "url": "https://a/b"} for name in ("news", "news.txt")}
    assert faults({"origins": own}, []) == [
        "origins.news: is a folder of public texts, expected another name"
    ]
