"""Files that are missing, and memory."""

from goldcrest.configuration import (
    alignment_memory,
    check,
    missing_files,
    search_memory,
    training_memory,
    vocabulary_memory,
)


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
        f"teacher.hugging_face: no such file or folder: opus; {remedy}",
    ]


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
    assert vocabulary_memory([folder] * 1000) == vocabulary_memory([folder] * 2000) > 10_000
    assert 3000 < alignment_memory(1_000_000) < 2 * alignment_memory(500_000) < 6000
