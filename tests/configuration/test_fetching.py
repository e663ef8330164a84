"""Files that an experiment downloads."""

from weebill.configuration.checking import check
from weebill.configuration.fetching import remote_sources
from weebill.corpus.sources import Places

SHA256 = "a" * 64


def test_files_and_checkpoints_that_translation_reads(experiment, zoo):
    """A published student's files are fetched; a line says that a job fetches the hub's COMET checkpoint."""
    address = "https://x.org/model.ende.bin.gz"
    changes = {"published": {"files": {address: SHA256}}, "training": {"guided_alignment": 0.1}}
    changes |= {"evaluation": {"comet": {"model": "Unbabel/wmt20-comet-da"}}, "pruning": {}}
    config = check(experiment(changes, ["pruning.pushy"]), "trial.yaml", zoo)
    found, [line] = remote_sources(config, Places())
    assert [(one.place, one.sha256) for one in found] == [(address, SHA256)]
    assert line.startswith("evaluation.comet.model: Unbabel/wmt20-comet-da: fetched by the job")
