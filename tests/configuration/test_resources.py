"""Missing files, and needed memory."""

import os
import shutil

import pytest

from tests.metric.small import make_checkpoint, make_encoder
from weebill.configuration.checking import (
    check,
    estimate,
    missing_file_notes,
    missing_files,
    unfit_models,
)
from weebill.configuration.cost import weights
from weebill.configuration.resources import (
    alignment_memory,
    language_model_memory,
    model_expansion,
    pretraining_memory,
    search_memory,
    training_memory,
    vocabulary_memory,
)
from weebill.configuration.sections.scoring import LanguageModel
from weebill.files import GIB, MIB
from weebill.metric.folder import load_metric, save_metric
from weebill.rehearsal.making.translators import make_m2m, make_marian
from weebill.settings import defaults

PUBLIC = {
    "table": "origin:noise/paracrawl_labelled.tsv",
    "columns": {"source": 0, "target": 1, "label": 5},
}


def test_missing_files(experiment, zoo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.en").write_text("a\n")
    changes = {
        "corpora": {
            "far": {
                "importer": "files",
                "source": "https://x.org/a",
                "target": "far.de",
                "sha256": {"source": "a" * 64},
                "local_dir": "fetched",
            },
            "set": {
                "importer": "hugging_face",
                "folder": "set",
                "source_field": "en",
                "target_field": "de",
            },
        },
        "local_dir": "elsewhere",
        "cleaning": {"language_id": {"model": "lid.bin"}},
        "evaluation": {"labelled": PUBLIC},
        "teacher": {"hugging_face": "opus"},
    }
    config = check(experiment(changes, ["teacher.architecture"]), "trial.yaml", zoo)
    remedy = "put it there or change the path"
    assert missing_files(config) == [
        f"corpora.far.target: no such file or folder: far.de; {remedy}",
        f"corpora.far.local_dir: no such file or folder: fetched; {remedy}",
        f"corpora.set.folder: no such file or folder: set; {remedy}",
        f"test_sets.news.target: no such file or folder: news.de; {remedy}",
        f"local_dir: no such file or folder: elsewhere; {remedy}",
        f"cleaning.language_id.model: no such file or folder: lid.bin; {remedy}",
        f"teacher.hugging_face: no such file or folder: opus; {remedy}, or give its commit as revision, if this "
        "is its name on the hub",
    ]


def test_folders_instead_of_files_and_files_instead_of_folders(
    experiment, zoo, tmp_path, monkeypatch
):
    """Pipes are refused because several jobs read a text."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("a\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "text.bz2").touch()
    entry = {"importer": "files", "source": "a", "target": "b", "lines": {"first": 2}}
    changes = {
        "corpora": {"own": entry},
        "test_sets": {"news": {"source": "pipe", "target": "file"}},
        "local_dir": "file",
        "mirror": "none",
        "evaluation": {"comet": {"model": "a"}},
        "scoring": {"language_model": {"source_text": ["text.bz2"]}},
    }
    config = check(experiment(changes), "trial.yaml", zoo)
    assert missing_files(config) == [
        "corpora.own.source: a folder: a; name a file",
        "corpora.own.target: a folder: b; name a file",
        "test_sets.news.source: not a plain file, and it is read several times: pipe; name a file",
        "local_dir: not a folder: file; name the folder",
        "scoring.language_model.source_text[0]: text compressed as .bz2 is not read: text.bz2; use .gz, .xz, .zst or "
        "plain text",
        "mirror: no such file or folder: none; put it there or change the path",
    ]
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may read all files
    assert "test_sets.news.target: permission denied: file; make it readable" in missing_files(
        config
    )
    estimate(config, zoo)  # for empty folders


def test_hugging_face_models_that_cannot_translate_are_named(
    experiment, zoo, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    make_m2m(tmp_path / "hundred")
    make_marian(tmp_path / "pair")
    german = {"importer": "tatoeba", "pairs": 9, "use": "monolingual-target"}
    changes = {
        "corpora": {"german": german},
        "teacher": {"hugging_face": "hundred"},
        "reverse_teacher": {"hugging_face": "pair"},
        "scoring": {"reverse_model": {"hugging_face": "facebook/nllb", "revision": 40 * "a"}},
    }

    def config(teacher=None, reverse=None):
        more = {"teacher": teacher or {}, "reverse_teacher": reverse or {}}
        changed = {key: {**value, **more.get(key, {})} for key, value in changes.items()}
        return check(experiment(changed, ["teacher.architecture"]), "trial.yaml", zoo)

    assert unfit_models(config()) == []
    codes = {"language_codes": {"target": "tlh_Latn"}}
    assert unfit_models(config(codes, codes)) == [
        "teacher.hugging_face: hundred: its tokenizer knows no language 'tlh_Latn'; name its code (language_codes)",
        "reverse_teacher.hugging_face: pair: its tokenizer has no codes of languages; remove language_codes",
    ]
    assert unfit_models(config({"language_codes": {"target": "nl"}})) == []


def test_memory_grows_with_models_batches_text_and_devices(experiment, zoo, tmp_path):
    def memory(model, batch_tokens=1000, tables=(), **hardware):
        config = check(experiment({"hardware": hardware}), "trial.yaml", zoo)
        return training_memory(config, model, batch_tokens, tables, zoo)

    small, *others = zoo
    least = memory(small)
    assert 1000 <= least < 4000
    assert any(memory(other) > least for other in others)
    assert memory(small, batch_tokens=50_000) > least
    assert memory(small, 50_000, accelerator="gpu") == memory(small, accelerator="gpu") <= least
    assert memory(small, accelerator="gpu", devices=4) >= 4000
    (tmp_path / "cleaned").mkdir()
    (tmp_path / "cleaned/part-00000.parquet").write_bytes(bytes(10 * 2**20))
    folder = str(tmp_path / "cleaned")
    assert memory(small, tables=[folder, "not/there"]) == least + 30
    assert search_memory([folder]) == search_memory([]) + 30
    assert search_memory([folder], threads=4) == search_memory([], threads=4) + 60
    few, many = (pretraining_memory([folder], sentences) for sentences in (10, 10**7))
    assert 4000 <= few < many == pretraining_memory([folder], 10**8)
    assert vocabulary_memory([folder] * 1000) == vocabulary_memory([folder] * 2000) > 10_000
    assert 3000 < alignment_memory(1_000_000) < 2 * alignment_memory(500_000) < 6000


@pytest.fixture
def text(tmp_path):
    """Return a function that names files of GiB of text in all; they take no room on the disk."""
    (tmp_path / "text").touch()
    os.truncate(tmp_path / "text", GIB)
    return lambda gibibytes: [str(tmp_path / "text")] * gibibytes


def test_memory_of_a_language_model_grows_with_its_text_to_a_bound(text):
    """The default draws at most 20 million lines of 150 bytes; a model has 5 bytes for each byte."""
    settings = defaults(LanguageModel)
    few = {**settings, "sentences": 1_000_000}
    assert language_model_memory(settings, []) == 1000 + settings["memory_mb"]
    drawn = int(2 * 1e6 * 150 / MIB)  # held twice while it is sorted
    assert language_model_memory(few, text(9)) == 1000 + settings["memory_mb"] + drawn
    whole = language_model_memory(settings, text(1))
    assert language_model_memory(few, text(9)) < whole < 16_000
    assert whole == language_model_memory(settings, text(1000)) == 1000 + int(5 * 20e6 * 150 / MIB)


def test_pruned_and_quantized_language_models_are_smaller(text):
    """Without a bound of the text, 9 GiB of compressed files have 36 GiB; sorting needs twice as much."""
    settings = {**defaults(LanguageModel), "sentences": 1_000_000_000}

    def memory(**changed):
        return language_model_memory({**settings, **changed}, text(9)) - 1000

    plain = 36 * 1024
    assert memory() == 5 * plain
    assert memory(quantized=True) == 2.5 * plain
    assert memory(prune=(0, 0, 1)) == memory(prune=(0, 0, 1), quantized=True) == 1000 + 2 * plain
    bits = model_expansion({**settings, "prune": (0, 0, 1), "quantized": True})
    assert bits == pytest.approx(1.0)


def test_a_comet_model_that_is_none_is_named_before_the_run(experiment, zoo, tmp_path):
    """The model is only needed after all training."""
    (tmp_path / "empty").mkdir()
    encoder = make_encoder(tmp_path / "encoder")
    make_checkpoint(tmp_path / "comet", encoder)
    cut = tmp_path / "cut"
    shutil.copytree(tmp_path / "comet", cut)
    (weights,) = cut.rglob("*.ckpt")
    weights.write_bytes(weights.read_bytes()[:-1000])
    told = {"empty": "neither a metric folder", "cut": "damaged", "comet": None}
    for name, words in told.items():
        comet = {"model": str(tmp_path / name)}
        comet |= {} if name == "empty" else {"encoder": str(encoder)}
        found = unfit_models(check(experiment({"evaluation": {"comet": comet}}), "x.yaml", zoo))
        assert len(found) == (words is not None)
        assert all(
            line.startswith("evaluation.comet.model: ") and words in line for line in found
        ), found


@pytest.mark.parametrize("count", [0, 1, 10, 11, 25])
def test_notes_of_missing_files_are_bounded(experiment, zoo, tmp_path, monkeypatch, count):
    monkeypatch.chdir(tmp_path)
    for name in ("a.en", "news.en", "news.de"):
        (tmp_path / name).touch()
    corpora = {
        f"c{number}": {"importer": "files", "source": "a.en", "target": f"{number}.de"}
        for number in range(count)
    }
    embedded = {"importer": "tatoeba", "pairs": 9}
    changes = {"corpora": {"tatoeba": embedded, **corpora}}
    config = check(experiment(changes), "trial.yaml", zoo)
    notes = missing_file_notes(config)
    own = [line.removeprefix("  missing: ") for line in notes if "no such file" in line]
    assert own == missing_files(config)[:10] and len(own) == min(count, 10)
    assert (f"  missing: {count - 10} more files or folders" in notes) == (count > 10)
    assert bool(notes) == bool(count)


def test_a_source_vocabulary_of_its_own_is_stored_but_multiplies_nothing(zoo):
    one = weights(zoo["small"], {"vocabulary": {"size": 500, "joint": True}})
    two = {"vocabulary": {"size": 500, "source_size": 300, "joint": False}}
    assert weights(zoo["small"], two) == one._replace(
        stored=one.stored + 300 * zoo["small"]["embedding"]
    )


def test_a_metric_of_an_unknown_kind_is_named_before_a_run(experiment, zoo, tmp_path):
    """The metric is read last, after all trainings."""

    def unfit(path):
        config = experiment({"evaluation": {"comet": {"model": str(path)}}})
        return unfit_models(check(config, "trial.yaml", zoo))

    encoder = make_encoder(tmp_path / "encoder")
    checkpoint = make_checkpoint(tmp_path / "checkpoint", encoder)
    save_metric(tmp_path / "metric", load_metric(checkpoint), {})
    for path in (checkpoint, checkpoint / "checkpoints/model.ckpt", tmp_path / "metric"):
        assert unfit(path) == []
    hyperparameters = checkpoint / "hparams.yaml"
    hyperparameters.write_text(hyperparameters.read_text().replace("regression_metric", "mine"))
    key = "evaluation.comet.model"
    for path, told in (
        (checkpoint, f"{hyperparameters}: class_identifier 'mine'"),
        (encoder, f"{encoder}/config.json: format None"),
        (tmp_path, f"{tmp_path}: neither a metric folder (no config.json) nor a checkpoint"),
    ):
        [line] = unfit(path)
        assert line.startswith(f"{key}: {told}")
