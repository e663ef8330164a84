"""Estimates of disk and time, compared with the published run of Multi30k, hand counts, and the papers' sizes."""

import re
from pathlib import Path

import pytest

from weebill.configuration.checking import check, estimate
from weebill.configuration.cost import corpus_sizes
from weebill.configuration.estimates import Estimate
from weebill.corpus.origins import catalogue
from weebill.yaml_files import read_yaml
from weebill_runtime import engines

REPOSITORY = Path(__file__).parents[2]
GIB = 2**30


@pytest.fixture
def estimated(experiment, zoo, tmp_path, monkeypatch):
    """Return a function that estimates the small experiment after changes."""
    monkeypatch.chdir(tmp_path)

    def make(changes=None, without=()):
        return estimate(check(experiment(changes or {}, without), "trial.yaml", zoo), zoo)

    return make


def of_paper(name):
    path = REPOSITORY / "config" / name
    return estimate(check(read_yaml(path), str(path)))


def test_disk_grows_with_text_and_models(estimated, tmp_path):
    small = estimated()
    web = {"importer": "opus", "name": "Europarl", "version": "v8", "rows": 460_000}
    pairs = estimated({"corpora": {"web": web}})
    assert 100_000_000 < pairs.total_disk - small.total_disk < 2_000_000_000
    assert estimated({"variants": ["*/unpruned/float32"]}).total_disk < small.total_disk
    assert (
        estimated({"teacher": {"architecture": "trio", "members": 3}}).total_disk > small.total_disk
    )
    (tmp_path / "news.en").write_bytes(bytes(5_000))
    (tmp_path / "news.de").write_bytes(bytes(5_000))
    assert estimated().total_disk == pytest.approx(small.total_disk + 0.4 * 10_000, abs=1)
    scores = {"cleaning": {"scores": {"language_model_source": {}}}}
    assert estimated(scores).total_disk > estimated().total_disk


def test_rows_of_what_is_not_here_are_told_or_named(experiment, zoo, estimated):
    web = {"importer": "opus", "name": "Europarl", "version": "v8"}
    unknown = estimated({"corpora": {"web": web}})
    assert "corpora.web: nothing tells how large it is, `rows` could" in unknown.unknown
    told = {"corpora": {"web": {**web, "rows": 2_000_000}}}
    known = estimated(told)
    assert not [line for line in known.unknown if "web" in line]
    assert known.disk["distilled text"] > 1000 * unknown.disk["distilled text"]
    assert known.hours["translation"] > 1000 * unknown.hours["translation"]
    assert known.fetched > 10**8
    lines = "\n".join(unknown.lines("results/trial", 0))
    assert "not counted: corpora.web" in lines and "may not suffice" in lines
    sizes = {size.key: size for size in corpus_sizes(check(experiment(told), "trial.yaml", zoo))}
    assert sizes["corpora.tatoeba"].rows == 100 and not sizes["corpora.tatoeba"].fetched
    entry = {"importer": "files", "source": "origin:multi30k/train.en"}
    entry["target"] = "origin:multi30k/train.de"
    public = check(experiment({"corpora": {"public": entry}}), "trial.yaml", zoo)
    found = next(size for size in corpus_sizes(public) if size.name == "public")
    assert (
        found.text
        == catalogue()["multi30k/train.en"].bytes + catalogue()["multi30k/train.de"].bytes
    )


def test_language_models_of_all_text_of_their_side_or_of_their_own(estimated, tmp_path):
    """A model takes ten times the bytes of its text: 100 pairs of 60 bytes, and 100 German sentences of 30 bytes."""
    german = {"importer": "tatoeba", "pairs": 100, "use": "monolingual-target"}
    changes = {
        "corpora": {"german": german},
        "reverse_teacher": {"architecture": "big"},
        "cleaning": {"scores": {"language_model_target": {}}},
    }
    assert estimated(changes).disk["language models"] == 10 * (3_000 + 3_000)
    changes["cleaning"]["scores"]["language_model_source"] = {}
    assert estimated(changes).disk["language models"] == 10 * (3_000 + 3_000 + 3_000)
    (tmp_path / "own.de").write_bytes(bytes(500))
    changes["scoring"] = {"language_model": {"target_text": ["own.de"]}}
    assert estimated(changes).disk["language models"] == 10 * (500 + 3_000)


def test_a_teacher_that_is_not_here_is_named(estimated):
    found = estimated({"teacher": {"hugging_face": "opus"}}, ["teacher.architecture"])
    assert any(line.startswith("teacher.hugging_face") for line in found.unknown)
    assert "teachers" not in found.hours and "translation" not in found.hours


def test_time_of_trainings_by_hand(experiment, zoo):
    """A network needs 6 operations per weight and position, half of the positions on each side, at 5e10 a second."""
    changes = {
        "training": {"updates": 50_000, "batch_tokens": 4000, "accumulate": 3},
        "students": ["small"],
        "variants": ["small/unpruned/float32"],
        "hardware": {"threads": 2, "devices": 2},
    }
    found = estimate(check(experiment(changes), "trial.yaml", zoo), zoo)
    layer = 4 * 8 * 8 + 2 * 8 * 16
    network = 2 * layer + 2 * (layer + 2 * 8 * 8) + 500 * 8
    seconds = 50_000 * 3 * 6 * 2000 * network / 5e10  # one device, one thread
    assert found.hours["students"] * 3600 == pytest.approx(2 * seconds)
    assert found.chain * 3600 > seconds / 2


def test_pruned_students_wait_for_their_checkpoint(estimated):
    """The longest path has 25,000 updates up to C, two removals, the remaining updates, and then fine-tuning."""
    alone = estimated({"variants": ["small/unpruned/float32"]})
    pruned = estimated({"variants": ["small/pushy/int8-finetuned"]})
    each = alone.hours["students"] / (2 * 500_000)  # two unpruned students are always made
    more = 25_000 + (500_000 - 25_000) + 2 * 15_000 + 6_000
    assert pruned.hours["students"] - alone.hours["students"] == pytest.approx(
        each * more, rel=0.01
    )
    assert pruned.chain - alone.chain == pytest.approx(each * (more - 500_000), rel=0.01)


def test_a_teacher_with_more_threads_is_ready_earlier(estimated):
    teacher = {"architecture": "trio", "members": 3, "training": {"updates": 1_000_000}}
    one = estimated({"teacher": teacher})
    four = estimated({"teacher": {**teacher, "threads": 4}})
    assert one.chain - four.chain == pytest.approx(3 / 4 * one.hours["teachers"] / 3, rel=0.2)
    assert four.hours == one.hours


def test_what_a_shape_from_scratch_is_of_is_made_too(estimated):
    """The base recipe's checkpoint, removals and stored model count even if no variant names the recipe."""
    changes = {"pruning": {"scratch": {"method": "from-scratch", "like": "pushy"}}}
    named = ["small/scratch/float32", "small/pushy/float32"]
    alone, both = (estimated({**changes, "variants": names}) for names in (named[:1], named))
    assert alone.hours == pytest.approx(both.hours)
    assert (alone.chain, alone.disk) == (both.chain, both.disk)
    assert alone.hours["students"] > estimated({"variants": named[1:]}).hours["students"]


def run_times(name: str) -> tuple[dict[str, float], int]:
    """Return the minutes of each rule's jobs on the published page of an experiment, and the number of all jobs."""
    page = (REPOSITORY / f"docs/results/{name}.md").read_text("utf-8")
    row = r"^\| (\w+) \| (\d+) \| ([\d.]+) \| [\d.]+ \| [\d,]+ \|$"
    rows = re.findall(row, page, re.MULTILINE)
    minutes = {rule: float(value) for rule, _, value in rows}
    return minutes, sum(int(count) for _, count, _ in rows)


def test_the_published_run_of_multi30k(monkeypatch):
    """Estimates for two cores, of trainings and of all jobs, are within a factor of two of the published times."""
    monkeypatch.setattr(engines, "has_bfloat16", lambda isa: True)  # the page's processor has AMX
    page = (REPOSITORY / "docs/results/multi30k.md").read_text()
    minutes, _ = run_times("multi30k")
    found = of_paper("multi30k.yaml")
    assert 0.5 < found.hours["teachers"] * 60 / minutes["train_teacher"] < 2
    students = ("train_student", "reset_checkpoint", "prune", "finetune_quantized")
    assert 0.5 < found.hours["students"] * 60 / sum(minutes[rule] for rule in students) < 2
    [whole] = re.findall(r"^\| \*\*all rules\*\* \| \d+ \| ([\d.]+) \|", page, re.MULTILINE)
    hours = sum(found.hours.values()) + sum(found.other_hours.values())
    assert 0.5 < hours * 60 / float(whole) < 2


@pytest.mark.parametrize(("name", "rows"), [("wmt21", 480e6), ("wngt20", 240e6)])
def test_the_papers_sizes(name, rows):
    """Each row of about 200 bytes is stored several times: as text in tables, in lists, and encoded."""
    found = of_paper(f"{name}.yaml")
    assert not [line for line in found.unknown if "evaluation." not in line]
    for bulk in ("corpora", "distilled text", "text in trainings"):
        assert 50 < found.disk[bulk] / rows < 3000
    assert 200 * GIB < found.total_disk < 4000 * GIB
    assert 1000 < sum(found.hours.values()) < 20_000
    assert found.chain < sum(found.hours.values()) / 4


def test_a_drawn_text_bounds_its_language_model(estimated):
    changes = {"cleaning": {"scores": {"language_model_source": {}}}}
    whole = estimated(changes).disk["language models"]
    changes["scoring"] = {"language_model": {"sentences": 25}}
    assert estimated(changes).disk["language models"] == pytest.approx(whole / 4)


def test_encoding_and_the_models_of_text_are_counted(estimated):
    """Teacher and students learn 460,100 pairs each; a pair of the web has 260 bytes, one of Tatoeba 60."""
    web = {"importer": "opus", "name": "Europarl", "version": "v8", "rows": 460_000}
    one = estimated({"corpora": {"web": web}})
    text = 460_000 * 260 + 100 * 60
    assert 3600 * one.other_hours["encoding"] == pytest.approx(2 * text / 5e6)
    # Side by side: 460,100 rows at 20,000 a second, and a side's text at 640,000 bytes a second.
    changes = {"corpora": {"web": web}, "cleaning": {"scores": {"language_model_source": {}}}}
    scored = estimated(changes)
    seconds = 460_100 / 20_000 + text / 2 / 640_000
    grown = scored.other_hours["text"] - one.other_hours["text"]
    assert 3600 * grown == pytest.approx(seconds)


def test_times_that_are_not_known_are_named(estimated):
    changes = {
        "cleaning": {"scores": {"bicleaner": {}, "lexical_translation": {}}},
        "scoring": {"bicleaner": {}, "lexical_translation": {}},
        "evaluation": {"mbr": {"utility": "chrf"}},
    }
    told = "the score bicleaner, evaluation.mbr: how long each takes is not known"
    assert told in estimated(changes).unknown
    assert not [line for line in estimated().unknown if "how long" in line]


def test_speed_is_timed_on_the_processor_even_beside_a_gpu():
    """The paper's teachers translate on a GPU, but are timed on a core, where each sentence takes seconds."""
    path = REPOSITORY / "config/wngt20.yaml"
    config = check(read_yaml(path), str(path))
    times = {}
    for sentences in (0, 100, 3000):
        config["evaluation"]["speed"]["teacher_sentences"] = sentences
        times[sentences] = estimate(config).other_hours["measuring"]
    assert times[0] < times[100] < times[3000]
    hundred = times[100] - times[0]
    assert times[3000] - times[0] == pytest.approx(30 * hundred, rel=0.01)
    # Four models with 150 million encoder and 200 million decoder weights, and eight hypotheses: 14 billion
    # operations per piece, 30 pieces, 60 billion operations per second; then the same for greedy search.
    assert 5 < 3600 * hundred / (2 * config["evaluation"]["speed"]["rounds"] * 100) < 20


def test_the_largest_job_is_told_with_its_memory():
    found = Estimate({}, "cpu", {}, 0, memory={"train_teacher": 900, "translate_shard": 3072})
    assert found.lines("x", 0)[2] == "  memory: at most about 3.0 GiB in one job (translate_shard)"
    timed = Estimate({}, "cpu", {}, 0, memory={"prune": 1024}, each_core=1536)
    assert timed.lines("x", 0)[2].endswith("(prune); measure_speed takes 1.5 GiB for each core")


def test_small_amounts_are_told_as_such():
    told = Estimate({"corpora": 9.0}, "cpu", {"students": 0.001}, 0.02, 0, {"text": 0.004}).lines(
        "x", 1 << 21
    )
    assert "disk: at most under 1 MiB (corpora under 1 MiB); 2 MiB are free" in told[1]
    assert (
        "time: under a minute of one CPU thread (students under a minute), and under a min"
        in told[2]
    )
    assert told[2].endswith("longest chain of jobs 1 minute")
    alone = Estimate({}, "gpu", {"students": 33.0}, 2.5).lines("x", 0)
    assert alone[2].endswith(
        "time: about 33 hours of one GPU (students 33 hours); longest chain of jobs 2 hours"
    )
