"""`weebill init` writes a valid configuration for any text and machine; a dry run succeeds."""

import random

import pytest
import yaml

from tests.workflow.running import snakemake
from weebill.__main__ import main
from weebill.configuration.checking import check
from weebill.translation.model.vocabulary import train_vocabulary
from weebill.yaml_files import read_yaml

MACHINE = ["--cores", "4", "--memory", "16", "--gpus", "0"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with 400 pairs of Finnish and Estonian."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.fi").write_text("".join(f"lause {number}\n" for number in range(400)))
    (tmp_path / "train.et").write_text("".join(f"lause number {n}\n" for n in range(400)))
    return tmp_path


def init(*words: str, languages=("fi", "et")) -> int:
    return main(["init", "mine.yaml", "--languages", *languages, *MACHINE, *words])


def written() -> dict:
    return check(read_yaml("mine.yaml"), "mine.yaml")


def test_two_files_become_an_experiment_whose_jobs_are_planned(folder, capsys):
    assert init("--corpus", "train.fi", "train.et") == 0
    assert "weebill run mine.yaml" in capsys.readouterr().out
    config = written()
    assert config["languages"] == {"source": "fi", "target": "et"}
    assert config["corpora"]["train"]["lines"] == {"first": 41}
    assert config["validation"]["lines"] == {"first": 1, "last": 20}
    assert config["test_sets"]["held_out"]["lines"] == {"first": 21, "last": 40}
    run = snakemake(folder, folder / "mine.yaml", "--dry-run")
    assert run.returncode == 0 and "train_student" in run.stdout, run.stdout
    assert "missing:" not in run.stdout
    lines = (folder / "mine.yaml").read_text().splitlines()
    assert sum("#" in line for line in lines) > 15 and max(map(len, lines)) <= 118


def test_text_by_name_on_another_machine(capsys):
    corpus = ["--corpus", "mtdata:Statmt-europarl-10-deu-eng"]
    named = [*corpus, "--validation", "sacrebleu:wmt18", "--test", "sacrebleu:wmt19"]
    assert init(*named, languages=("en", "de")) == 1
    assert "corpora.Statmt-europarl-10-deu-eng: its size is not known" in capsys.readouterr().err
    known = [*named, "--pairs", "1800000", "--gpus", "2", "--cores", "32", "--memory", "128"]
    assert init(*known, languages=("en", "de")) == 0
    config = written()
    assert config["hardware"] == {
        **config["hardware"],
        "accelerator": "gpu",
        "devices": 2,
        "threads": 8,
    }
    assert config["students"] == ["base", "tiny"] and list(config["test_sets"]) == ["wmt19"]
    assert config["corpora"]["Statmt-europarl-10-deu-eng"]["rows"] == 1_800_000
    assert config["training"]["warmup"] < config["training"]["updates"] / 9


@pytest.mark.parametrize(
    ("languages", "joint"), [(("fi", "et"), True), (("fi", "th"), False), (("zh", "ja"), True)]
)
def test_languages_without_a_common_letter_have_a_vocabulary_each(languages, joint):
    named = ["--corpus", "opus:OpenSubtitles:v2018", "--pairs", "50000000"]
    assert init(*named, languages=languages) == 0
    vocabulary = written()["vocabulary"]
    assert vocabulary["joint"] is joint
    assert vocabulary["size"] == (32000 if joint else 16000)


def test_a_vocabulary_has_a_piece_for_each_common_letter(folder):
    """SentencePiece trains the drafted sizes on the text, which has 1,500 Han letters."""
    draw = random.Random(1)
    letters = [chr(0x4E00 + number) for number in range(1500)]
    lines = ["".join(letters[n * step % 1500] for step in range(1, 9)) for n in range(1500)]
    words = ["".join(draw.choices("aeiourstnl", k=draw.randint(2, 8))) for _ in range(900)]
    english = [" ".join(draw.choices(words, k=8)) for _ in lines]
    (folder / "train.zh").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "train.en").write_text("\n".join(english) + "\n", "utf-8")
    (folder / "both.tsv").write_text(
        "".join(f"{one}\t{two}\n" for one, two in zip(english, lines, strict=True)), "utf-8"
    )
    found = []
    for text in (["train.en", "train.zh"], ["both.tsv"]):
        assert init("--corpus", *text, "--force", languages=("en", "zh")) == 0
        found.append(written()["vocabulary"])
        assert "joint: false" in (folder / "mine.yaml").read_text()
    assert found[0] == found[1]
    train_vocabulary(lines, "zh.spm", found[0]["size"], 1, byte_fallback=True)
    train_vocabulary(english, "en.spm", found[0]["source_size"], 1, byte_fallback=True)
    later = ["--corpus", "opus:OpenSubtitles:v2018", "--pairs", "20000", "--force"]
    assert init(*later, languages=("en", "ko")) == 0
    assert written()["vocabulary"]["size"] > 1700


def test_lengths_follow_the_text_and_the_hours(folder, capsys):
    """A run of at most an hour trains less than a run without a limit."""
    named = ["--corpus", "opus:Europarl:v8", "--monolingual", "train.en", "--pairs"]
    (folder / "train.en").write_text("Yes.\n" * 10)
    updates = {}
    for pairs, hours in (("100000", None), ("100000", "1"), ("2000000", None)):
        limit = [] if hours is None else ["--hours", hours]
        assert init(*named, pairs, *limit, "--force", languages=("en", "de")) == 0
        config = written()
        updates[pairs, hours] = config["training"]["updates"] * config["training"]["batch_tokens"]
    assert updates["100000", "1"] < updates["100000", None] < updates["2000000", None]
    assert "still need" not in capsys.readouterr().err
    assert init(*named, "2000000", "--hours", "0.01", "--force", languages=("en", "de")) == 0
    assert "the fastest models and lengths still need about" in capsys.readouterr().err


def test_a_small_memory_gets_batches_in_parts():
    named = ["--corpus", "opus:Europarl:v8", "--pairs", "1000000", "--memory", "7"]
    assert init(*named, languages=("en", "de")) == 0
    training = written()["teacher"]["training"]
    assert training["accumulate"] > 1
    assert training["accumulate"] * training["batch_tokens"] == 8192


def test_a_smaller_memory_gets_smaller_models(capsys):
    named = ["--corpus", "opus:Europarl:v8", "--pairs", "1000000", "--force", "--memory"]
    assert init(*named, "2.5", languages=("en", "de")) == 0
    assert written()["teacher"]["architecture"] == "multi30k.teacher"
    assert not capsys.readouterr().err
    assert init(*named, "0.5", languages=("en", "de")) == 0
    assert (
        "mine.yaml: the smallest models and batches still need about 1." in capsys.readouterr().err
    )


@pytest.mark.parametrize(("cards", "devices"), [("0,2", 2), ("", None)])
def test_gpus_are_those_that_jobs_may_use(monkeypatch, cards, devices):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", cards)
    monkeypatch.delenv("WEEBILL_GPUS", raising=False)
    command = ["init", "mine.yaml", "--languages", "fi", "et", "--corpus", "train.fi", "train.et"]
    assert main(command) == 0
    hardware = written()["hardware"]
    assert hardware["accelerator"] == ("gpu" if devices else "cpu")
    assert hardware["devices"] == (devices or 1)


def test_a_teacher_of_the_hub_is_not_trained():
    commit = "0123456789" * 4
    assert (
        init(
            "--corpus", "train.fi", "train.et", "--teacher", f"Helsinki-NLP/opus-mt-fi-et@{commit}"
        )
        == 0
    )
    teacher = read_yaml("mine.yaml")["teacher"]
    assert teacher == {"hugging_face": "Helsinki-NLP/opus-mt-fi-et", "revision": commit}


@pytest.mark.parametrize(
    ("words", "languages", "told"),
    [
        (["--corpus", "train.fi", "none.et"], ("fi", "et"), "none.et: no such file; check the path"),
        (["--corpus", "train.fi", "short.et"], ("fi", "et"), "train.fi has 400 lines and short.et has 1 lines"),
        (["--corpus", "train.fi", "train.et"], ("fi", "xx"), "no language 'xx', expected a tag"),
        (["--corpus", "opos:x"], ("fi", "et"), "--corpus opos:x: no text; name two files"),
        (["--corpus", "opus:Europral:v8", "--pairs", "9"], ("fi", "et"), "did you mean 'Europarl'?"),
        (["--corpus", "empty.et", "empty.et"], ("fi", "et"), "empty.et: empty file"),
        (["--corpus", "short.et", "short.et"], ("fi", "et"), "corpora.short: 1 lines, of which 2 would be held out"),
        (["--corpus", "ragged.tsv"], ("fi", "et"), "ragged.tsv:2: no tab"),
        (["--corpus", "nul.fi", "train.et"], ("fi", "et"), "nul.fi:1: a NUL character inside the line"),
        (["--corpus", "train.fi", "train.et", "--teacher", "basse"], ("fi", "et"), "did you mean 'base'?; of a"),
        (["--corpus", "train.fi", "train.et", "--teacher", "."], ("fi", "et"), "teacher.hugging_face: "),
        (["--corpus", "sacrebleu:wmt19"], ("fi", "et"), "--corpus sacrebleu:wmt19: sacreBLEU has test sets alone"),
    ],
)  # fmt: skip
def test_faults_come_before_the_file(folder, capsys, words, languages, told):
    (folder / "short.et").write_text("x\n")
    (folder / "nul.fi").write_text("\0\n" * 400)
    (folder / "empty.et").touch()
    (folder / "ragged.tsv").write_text("x\ty\nx\n" * 100)
    assert init(*words, languages=languages) == 1
    assert told in capsys.readouterr().err
    assert not (folder / "mine.yaml").exists()


def test_filters_that_drop_much_are_named(folder, capsys):
    """Numbers of the sides differ, as of files that do not belong together."""
    (folder / "other.et").write_text("".join(f"lause {number + 7}\n" for number in range(400)))
    assert init("--corpus", "train.fi", "other.et") == 0
    told = "mine.yaml: corpora.train: of its first rows, the filter 'numbers' drops 360 of 360 rows"
    assert told in capsys.readouterr().err


def test_nothing_is_replaced_unasked(folder, capsys):
    (folder / "mine.yaml").write_text("mine\n")
    assert init("--corpus", "train.fi", "train.et") == 1
    assert "mine.yaml: exists" in capsys.readouterr().err
    assert (folder / "mine.yaml").read_text() == "mine\n"
    assert main(["init", "new.yaml"]) == 1
    assert "--languages is missing" in capsys.readouterr().err


def test_questions_on_a_terminal(folder, monkeypatch):
    (folder / "dev.tsv").write_text("Hei.\tTere.\n" * 5)
    answers = iter(["fi et", "", "train.fi train.et", "dev.tsv", "", "", "ten", "-3", "nan", "2"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    assert main(["init", "mine.yaml", *MACHINE]) == 0
    config = yaml.safe_load((folder / "mine.yaml").read_text())
    assert config["validation"] == {
        "importer": "files", "table": "dev.tsv", "columns": {"source": 0, "target": 1}
    }  # fmt: skip
    assert config["corpora"]["train"]["lines"] == {"first": 21}


def test_a_question_without_an_answer_ends_in_one_line(folder, monkeypatch, capsys):
    def end(question):
        raise EOFError

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", end)
    assert main(["init", "mine.yaml"]) == 1
    assert "init: no answer; give what is asked as arguments" in capsys.readouterr().err
    assert not (folder / "mine.yaml").exists()
