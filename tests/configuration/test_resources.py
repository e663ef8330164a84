"""Files that are missing, and room on the disk."""

from goldcrest.configuration import check, estimate_disk, missing_files


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
            }
        },
        "cleaning": {"language_id": {"model": "lid.bin"}},
        "teacher": {"hugging_face": "opus"},
    }
    config = check(experiment(changes, ["teacher.architecture"]), "trial.yaml", zoo)
    remedy = "put it there or change the path"
    assert missing_files(config) == [
        f"corpora.far.target: no such file or folder: far.de; {remedy}",
        f"test_sets.news.target: no such file or folder: news.de; {remedy}",
        f"cleaning.language_id.model: no such file or folder: lid.bin; {remedy}",
        f"teacher.hugging_face: no such file or folder: opus; {remedy}",
    ]


def test_disk_grows_with_text_and_models(experiment, zoo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def disk(changes):
        return estimate_disk(check(experiment(changes), "trial.yaml", zoo), zoo)

    small = disk({})
    pairs = disk({"corpora": {"grammar": {"pairs": 1_000_100}}})
    assert 100_000_000 < pairs - small < 1_000_000_000
    assert disk({"variants": ["*/unpruned/float32"]}) < small
    assert disk({"teacher": {"architecture": "trio", "members": 3}}) > small
    (tmp_path / "news.en").write_bytes(bytes(5_000))
    assert disk({}) - small == 10_000  # the text, and as much for its tables
