"""The corpus stage, run by Snakemake from files to the cleaning report; bad input gives one line."""

import csv
import shutil

import pytest
import yaml

from tests.workflow.running import TINY, snakemake
from weebill.corpus.injected_noise import KINDS
from weebill.corpus.table import count_rows, read_columns, shard_paths
from weebill.corpus.tatoeba import read_pairs
from weebill.files import read_json

pytestmark = pytest.mark.workflows

REPORT = "results/tiny/tables/cleaning.csv"
PAIRS = [
    ("A sentence of the test.", "Etwas ganz anderes hier."),
    ("The house is old.", "Das Haus ist alt."),
    ("The house is old!", "Das Haus ist alt!"),
    ("Nobody knows the answer.", "Niemand kennt die Antwort."),
    ("Mister Wong", "Mister Wong"),
]


@pytest.fixture
def experiment(tmp_path):
    """Return a function that writes an experiment with text files and returns its configuration."""

    def files(name, pairs):
        for side, lines in zip(("en", "de"), zip(*pairs, strict=True), strict=True):
            (tmp_path / f"{name}.{side}").write_text("".join(f"{line}\n" for line in lines))
        source, target = (str(tmp_path / f"{name}.{side}") for side in ("en", "de"))
        return {"importer": "files", "source": source, "target": target}

    def make(cleaning=None, **corpora):
        corpora = corpora or {"news": PAIRS}
        held_out = files("test", [("a sentence of the test", "Ein Satz des Tests")])
        validation = files("validation", [("Validation here", "Niemand kennt die Antwort")])
        config = {
            **yaml.safe_load(TINY.read_text()),
            "corpora": {name: files(name, pairs) for name, pairs in corpora.items()},
            "test_sets": {"tatoeba_test": held_out},
            "validation": validation,
            "cleaning": cleaning or {},
        }
        (tmp_path / "files.yaml").write_text(yaml.safe_dump(config))
        return tmp_path / "files.yaml"

    return make


def test_from_files_to_the_report_on_several_threads(tmp_path, experiment):
    """The second corpus has damage, several shards, and rows repeated in capital letters."""
    pairs = read_pairs(1250)
    loud = [(source.upper(), target.upper()) for source, target in pairs]
    made = experiment({"shard_rows": 1000}, news=PAIRS, loud=[*pairs, *loud])
    config = yaml.safe_load(made.read_text())
    noise = {"share": 0.2, "other_languages": ["tatoeba"]}
    config["corpora"]["loud"] |= {"noise": noise, "cleaning": {"near_duplicates": False}}
    config["hardware"]["threads"] = 2
    (tmp_path / "threads.yaml").write_text(yaml.safe_dump(config))
    run = snakemake(tmp_path, tmp_path / "threads.yaml", "--cores", "2", REPORT)
    assert run.returncode == 0, run.stdout
    cleaned = tmp_path / "results/tiny"

    rows = list(csv.DictReader((cleaned / "tables/cleaning.csv").read_text().splitlines()))
    dropped = {row["filter"]: row["dropped"] for row in rows if row["corpus"] == "news"}
    lost = {"near_duplicate": "1", "identical": "1", "test_overlap": "2"}
    assert dropped == {"rows in": "", **lost, "kept": ""}
    table = read_columns(cleaned / "corpora/news/cleaned", ["row"])
    assert table["row"].to_pylist() == [1]
    assert not (cleaned / "corpora/news/imported").exists()

    target = cleaned / "corpora/loud/cleaned"
    assert len(shard_paths(target)) == 3
    table = read_columns(target, ["row", "noise", "dropped_by"], kept=False)
    assert table["row"].to_pylist() == list(range(2500))
    assert set(table["noise"].to_pylist()) == {None, *KINDS}
    filters = set(table["dropped_by"].to_pylist())
    assert "near_duplicate" not in filters and {None, "identical"} <= filters


def test_the_users_own_identifier(tmp_path, experiment, lid_176):
    french = ("The weather was fine all evening.", "Il faisait beau toute la soirée.")
    german = ("The weather was fine all evening.", "Das Wetter war den ganzen Abend schön.")
    config = experiment({"language_id": {"model": lid_176}}, news=[french, german])
    run = snakemake(tmp_path, config, "--cores", "1", REPORT)
    assert run.returncode == 0, run.stdout
    table = tmp_path / "results/tiny/corpora/news/cleaned"
    assert read_columns(table, ["dropped_by"], kept=False)["dropped_by"].to_pylist() == [
        "language_target",
        None,
    ]


def test_sources_are_locked_and_may_move(tmp_path, experiment):
    """A named data set needs no network; a moved folder reruns nothing, and a changed file stops the run."""
    name, cleaned = "Statmt-wikititles-3-deu-eng", "results/tiny/corpora/news/cleaned"
    lines = "".join(f"{target}\t{source}\n" for source, target in PAIRS)
    config = yaml.safe_load(experiment().read_text())

    def run(folder):
        config["corpora"] = {"news": {"importer": "mtdata", "name": name}}
        config["local_dir"] = str(tmp_path / folder)
        (tmp_path / "named.yaml").write_text(yaml.safe_dump(config))
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.tsv").write_text(lines)
        return snakemake(tmp_path, tmp_path / "named.yaml", "--cores", "1", cleaned)

    first = run("here")
    assert first.returncode == 0, first.stdout
    assert count_rows(tmp_path / cleaned, kept=False) == len(PAIRS)
    lock = tmp_path / "results/tiny/corpora/sources.lock.json"
    [record] = read_json(lock)["sources"]["corpora.news"]
    assert (record["name"], record["version"]) == (name, "3")
    assert "Nothing to be done" in run("there").stdout

    shutil.rmtree(tmp_path / cleaned)
    lines += "Noch eine\tOne more\n"
    changed = run("here")
    assert changed.returncode == 1
    [line] = [line for line in changed.stdout.splitlines() if line.startswith("weebill: ")]
    assert "corpus 'news'" in line and f"remove {lock.relative_to(tmp_path)} and run again" in line


def test_bad_input_is_one_line_and_leaves_nothing(tmp_path, experiment):
    config = experiment()
    (tmp_path / "news.de").write_text("Eine Zeile\n")
    run = snakemake(tmp_path, config, "--cores", "1", REPORT)
    assert run.returncode == 1
    lines = [line for line in run.stdout.splitlines() if line.startswith("weebill: ")]
    assert len(lines) == 1
    assert "news.en has 5 lines" in lines[0] and "news.de has 1;" in lines[0]
    assert not any((tmp_path / "results/tiny/corpora").rglob("*.parquet"))
