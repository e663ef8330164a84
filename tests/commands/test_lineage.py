"""`weebill lineage` with records in Snakemake's format; tests/workflow uses a real run."""

import json
from base64 import urlsafe_b64encode

import pytest

from weebill.__main__ import main
from weebill.files import sha256_file, write_json
from weebill.workflow.lineage import RECORDS, provenance

ENVIRONMENT = "0" * 16  # hash of the installed packages, in a rule's parameters
LONG = "results/trial/" + "deep/" * 40 + "table.csv"


def record(folder, output, rule, inputs, ended, *parameters, log=None):
    """Write a job's records as Snakemake does: one file per output, whose long name is split into folders."""
    name = urlsafe_b64encode(output.encode()).decode()
    parts = [name[start : start + 254] for start in range(0, len(name), 254)]
    path = folder.joinpath(RECORDS, *(f"@{part}" for part in parts[:-1]), parts[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    noted = {"rule": rule, "input": inputs, "log": [log or f"{rule}.log"]}
    noted |= {
        "params": [repr(value) for value in parameters],
        "starttime": ended - 2,
        "endtime": ended,
    }
    path.write_text(json.dumps(noted))


@pytest.fixture
def results(tmp_path):
    """Make a table from a model from text, whose import was temporary; and a file of the user."""
    (tmp_path / LONG).parent.mkdir(parents=True)
    (tmp_path / LONG).write_text("1\n")
    (tmp_path / "news.en").write_text("a\n")
    model, imported = "results/trial/models/small", "results/trial/corpora/news/imported"
    lock = "results/trial/corpora/sources.lock.json"
    made = {"kind": "student", "seed": 5, "course": {"updates": 9}, "versions": {"torch": "2"}}
    (tmp_path / model).mkdir(parents=True)
    (tmp_path / model / "model.safetensors").touch()
    write_json(tmp_path / model / "config.json", {"lineage": made})
    sources = {
        "corpora.news": [{"name": "news", "sha256": "ab" * 32}],
        "corpora.other": [{"name": "x"}],
    }
    write_json(tmp_path / lock, {"sources": sources})
    write_json(tmp_path / "results/trial/configuration.json", {"experiment": "trial", "seed": 4})
    entries = [{"importer": "files", "source": "news.en"}]
    record(tmp_path, lock, "lock_sources", ["news.en"], 10.0)
    record(
        tmp_path,
        imported,
        "import_corpus",
        ["news.en", lock],
        20.0,
        entries,
        "code:0123456789abcdef",
    )
    record(tmp_path, model, "train", [imported], 30.0, 5, ENVIRONMENT, "code:fedcba9876543210")
    record(tmp_path, LONG, "tables", [f"{model}/config.json", "gone.txt"], 40.0)
    return tmp_path


def test_everything_behind_a_table(results, capsys):
    assert main(["lineage", str(results / LONG), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [job["rule"] for job in found["jobs"]] == [
        "tables",
        "train",
        "import_corpus",
        "lock_sources",
    ]
    assert [job["code"] for job in found["jobs"]][:3] == [
        None,
        "fedcba9876543210",
        "0123456789abcdef",
    ]
    assert found["files"] == {"gone.txt": None, "news.en": sha256_file(results / "news.en")}
    assert found["sources"] == {"corpora.news": [{"name": "news", "sha256": "ab" * 32}]}
    assert found["models"]["results/trial/models/small"]["seed"] == 5
    assert (found["experiment"], found["seed"]) == ("trial", 4)
    assert found["sha256"] == sha256_file(results / LONG)


def test_as_text_from_another_folder(results, capsys, monkeypatch):
    monkeypatch.chdir(results / "results")
    assert main(["lineage", "trial/models/small/config.json"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("results/trial/models/small\n")
    assert "seed 5, 9 updates, torch 2" in text
    assert "1970-01-01 00:00:30 UTC  train  1 job, 2.0 s, code fedcba9876543210" in text
    assert "tables" not in text


def test_jobs_with_one_record_for_each_output_count_once(results):
    for shard in "01":
        record(results, f"results/split-{shard}", "split", [LONG], 50.0)
    record(results, "results/merged", "merge", ["results/split-0", "results/split-1"], 60.0)
    (results / "results/merged").touch()
    jobs = provenance(results / "results/merged").jobs
    assert [job.rule for job in jobs][:3] == ["merge", "split", "tables"]
    assert jobs[1].outputs == ["results/split-0", "results/split-1"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("results/nothing", "no such result"), ("news.en", "no job recorded that it made this")],
)
def test_what_no_job_made(results, capsys, name, message):
    assert main(["lineage", str(results / name)]) == 1
    assert message in capsys.readouterr().err


def test_results_that_were_moved_away(tmp_path, capsys):
    (tmp_path / "table.csv").touch()
    assert main(["lineage", str(tmp_path / "table.csv")]) == 1
    assert "look at results where the workflow made them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rule", None),
        ("input", "news.en"),
        ("params", 5),
        ("endtime", None),
        ("log", None),
        ("", None),
    ],
)
def test_records_that_are_not_what_they_were(results, capsys, key, value):
    name = urlsafe_b64encode(b"results/trial/models/small").decode()
    path = results / RECORDS / name
    noted = json.loads(path.read_text())
    path.write_text(json.dumps({**noted, key: value} if key else None))
    assert main(["lineage", str(results / "results/trial/models/small")]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and f"{path}: no sound '{key or 'rule'}'" in told


DAMAGED = {
    "results/trial/models/small/config.json": [
        "[]",
        '{"lineage": 5}',
        '{"lineage": {"course": 5}}',
        '{"lineage": {"course": {"updates": "9"}}}',
        '{"lineage": {"versions": ["2"]}}',
        '{"lineage": {"kind": 5}}',
    ],
    "results/trial/configuration.json": ["null", "{}", '{"experiment": "trial"}'],
    "results/trial/corpora/sources.lock.json": [
        "[]",
        '{"sources": 5}',
        '{"sources": {"corpora.news": 5}}',
        '{"sources": {"corpora.news": [5]}}',
    ],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in DAMAGED.items() for text in texts]
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_files_that_are_not_what_they_were(results, capsys, name, text, form):
    (results / name).write_text(text)
    assert main(["lineage", str(results / LONG), *form]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"weebill: {results / name}: ") and told.count("\n") == 1


@pytest.mark.parametrize("time", [1e300, -1e18, float("nan"), float("inf"), True])
def test_times_that_are_none(results, capsys, time):
    record(results, LONG, "tables", ["gone.txt"], time)
    assert main(["lineage", str(results / LONG)]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "no sound '" in told and "time'" in told
