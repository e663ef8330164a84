"""`weebill check`: faults of all given configurations, missing files and the estimate; and the help of `weebill`."""

import yaml

from tests.small_experiment import EXPERIMENT
from weebill.__main__ import COMMANDS, main


def test_every_configuration_is_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sound = {key: value for key, value in EXPERIMENT.items() if key != "test_sets"}
    sound |= {"test_sets": {"news": {"importer": "tatoeba", "pairs": 20}}}
    sound |= {"teacher": {"architecture": "demo.teacher", "training": {"updates": 70}}}
    sound |= {"students": ["demo.tiny"], "pruning": {}, "training": {"updates": 5000}}
    absent = {**sound, "test_sets": EXPERIMENT["test_sets"]}
    for name, values in {"sound": sound, "absent": absent, "bad": {**sound, "sed": 1}}.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(values))
    assert main(["check", "sound.yaml"]) == 0
    found = capsys.readouterr()
    assert "results/trial: an estimate" in found.out and not found.err
    assert "teacher.training.warmup: 7 by default, 0.1 × updates 70, instead of 16,000" in found.out
    assert "quantization.int8.finetune.updates: 6,000, more than the students' whole" in found.out
    assert main(["check", "bad.yaml", "absent.yaml"]) == 1
    found = capsys.readouterr()
    assert "bad.yaml: sed: unknown key" in found.err and "did you mean 'seed'" in found.err
    assert "absent.yaml: test_sets.news.source: no such file or folder: news.en" in found.err
    assert "results/trial: an estimate" in found.out


def test_without_a_command_the_help_shows_examples(capsys):
    try:
        main([])
    except SystemExit as end:
        assert end.code == 0
    shown = capsys.readouterr().out
    assert "weebill translate results/demo" in shown
    assert all(name in shown for name in COMMANDS)
