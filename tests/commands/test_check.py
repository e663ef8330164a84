"""`weebill check`: faults of all given configurations, missing files and the estimate; also the help of `weebill`."""

import yaml

from tests.small_experiment import EXPERIMENT
from weebill.__main__ import COMMANDS, main

SMALL = EXPERIMENT | {
    "teacher": {"architecture": "demo.teacher"},
    "students": ["demo.tiny"],
    "pruning": {},
}


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


def test_filters_that_drop_much_are_named(tmp_path, monkeypatch, capsys):
    """The first rows of local text are cleaned; here, every other pair has another number."""
    monkeypatch.chdir(tmp_path)
    lines = [f"There were about {100 + n % 2} people there\n" for n in range(400)]
    (tmp_path / "a.en").write_text("".join(lines))
    (tmp_path / "a.de").write_text("Dort waren etwa 100 Menschen\n" * 400)
    corpus = {"importer": "files", "source": "a.en", "target": "a.de"}
    pairs = {"importer": "tatoeba", "pairs": 20}
    values = {**SMALL, "corpora": {"own": corpus}, "test_sets": {"t": pairs}}
    for name, rules in {"as-is": {}, "off": {"rules": {"disabled": ["numbers"]}}}.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump({**values, "cleaning": rules}))
    main(["check", "as-is.yaml"])
    told = "as-is.yaml: corpora.own: of its first rows, the filter 'numbers' drops 200 of 400 rows"
    assert told in capsys.readouterr().err
    main(["check", "off.yaml"])
    assert "corpora.own" not in capsys.readouterr().err


def test_references_that_no_translation_equals_are_told(tmp_path, monkeypatch, capsys):
    """Vocabularies compose é; of Bengali's য় they make two characters, as Unicode's composed form has."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.en").write_text("A house\n" * 200)
    tests = {}
    for name, letter in {"sound": "é", "apart": "e\u0301", "bengali": "\u09df"}.items():
        lines = [f"Une maison {letter if n < 3 else ''}\n" for n in range(200)]
        (tmp_path / f"{name}.de").write_text("".join(lines))
        tests[name] = {"importer": "files", "source": "a.en", "target": f"{name}.de"}
    values = SMALL | {"corpora": {"own": {"importer": "tatoeba", "pairs": 50}}, "test_sets": tests}
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(values))
    main(["check", "x.yaml"])
    told = [line for line in capsys.readouterr().err.splitlines() if "composed form" in line]
    found = "3 of its 200 references are not in Unicode's composed form (NFC), as translations are"
    assert [line.partition(",")[0] for line in told] == [
        f"x.yaml: test_sets.{name}: {found.partition(',')[0]}" for name in ("apart", "bengali")
    ]


def test_a_text_that_cannot_be_read_is_a_fault(tmp_path, monkeypatch, capsys):
    """The text may be for training, validation or a test."""
    monkeypatch.chdir(tmp_path)
    for name, lines in {"a.en": 9, "a.de": 9, "b.en": 8, "b.de": 9}.items():
        (tmp_path / name).write_text("Ein Haus\n" * lines)
    (tmp_path / "c.en").write_bytes("Zwölf Häuser\n".encode("latin-1") * 9)
    files = {key: {"importer": "files", "source": f"{key}.en", "target": "a.de"} for key in "abc"}
    own, other = {"importer": "tatoeba", "pairs": 50}, files["b"] | {"target": "b.de"}
    values = SMALL | {"corpora": {"own": own, "b": other}, "validation_may_overlap_tests": True}
    values |= {"validation": files["c"], "test_sets": {"t": files["a"] | {"lines": {"last": 10}}}}
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(values))
    assert main(["check", "x.yaml"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "x.yaml: corpora.b: b.en has 8 lines and b.de has 9; the sides of a corpus must have one line per pair",
        "x.yaml: validation: c.en:1: not UTF-8 (byte 0xf6 at column 3); convert the text with iconv, or remove the "
        "line",
        "x.yaml: test_sets.t: a.en: has 9 lines, `lines` names the 10th; name one that is there",
    ]


def test_the_end_of_a_text_is_read_too(tmp_path, monkeypatch, capsys):
    """Sides of unequal lengths, and lines that are not UTF-8, show up behind the rows that are cleaned."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("weebill.configuration.cleaning_sample.ROWS", 50)
    for name in "ab":
        (tmp_path / f"{name}.en").write_text("A house\n" * 90)
    (tmp_path / "a.de").write_text("Ein Haus\n" * 91)
    (tmp_path / "b.de").write_bytes(b"Ein Haus\n" * 80 + b"B\xe4r\n" * 10)
    files = {
        key: {"importer": "files", "source": f"{key}.en", "target": f"{key}.de"} for key in "ab"
    }
    values = SMALL | {
        "corpora": {"a": files["a"] | {"lines": {"first": 21}}, "b": files["b"]},
        "validation": files["a"] | {"lines": {"last": 20}},
        "test_sets": {"t": {"importer": "tatoeba", "pairs": 20}},
    }
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(values))
    assert main(["check", "x.yaml"]) == 1
    assert [
        line for line in capsys.readouterr().err.splitlines() if "of its first rows" not in line
    ] == [
        "x.yaml: corpora.a: a.en has 90 lines and a.de has 91; the sides of a corpus must have one line per pair",
        "x.yaml: corpora.b: b.de:81: not UTF-8 (byte 0xe4 at column 2); convert the text with iconv, or remove the "
        "line",
    ]


def test_without_a_command_the_help_shows_examples(capsys):
    try:
        main([])
    except SystemExit as end:
        assert end.code == 0
    shown = capsys.readouterr().out
    assert "weebill translate results/demo" in shown
    assert all(name in shown for name in COMMANDS)
