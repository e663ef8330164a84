"""Steps from originals to texts: hand-joined tables, and checksums of all texts that a mirror can make."""

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.corpus.originals_server import originals, serving
from weebill.corpus.origins import catalogue
from weebill.corpus.origins.steps import (
    STEPS,
    labelled_paracrawl,
    mlqe,
    mqm_news,
    mqm_ted,
    tatoeba,
    wmt17_assessments,
)
from weebill.corpus.sources import Places


def write(folder, **texts):
    """Write texts as files; return their paths by name."""
    paths = {}
    for index, (name, text) in enumerate(texts.items()):
        paths[name] = folder / str(index)
        paths[name].write_text(text, encoding="utf-8")
    return paths


def cells(lines):
    return [line.split("\t") for line in lines]


def test_assessments_find_the_text_of_the_first_system(tmp_path):
    scores = "LP DATA SYSTEM SID HUMAN\nen-zh w A.1 1 9\ncs-en w B.2+A.1 2 -0.50\ncs-en w A.1 1 1\n"
    files = write(
        tmp_path,
        **{
            "DA-seglevel.csv": scores,
            "source/newstest2017-csen-src.cs": "jedna \ndva\n",
            "references/newstest2017-csen-ref.en": "one\ntwo \n",
            "system-outputs/cs-en/newstest2017.A.1.cs-en": "a one\na two\n",
            "system-outputs/cs-en/newstest2017.B.2.cs-en": "b one\nb two\n",
        },
    )
    header, *rows = cells(wmt17_assessments(files))
    assert header[:4] == ["lp", "domain", "system", "seg_id"]
    assert rows == [
        ["cs-en", "news2017", "B.2+A.1", "2", "dva", "two", "b two", "-0.50"],
        ["cs-en", "news2017", "A.1", "1", "jedna", "one", "a one", "1"],
    ]


def test_the_reference_of_reference_c_is_a(tmp_path):
    systems = ["Facebook-AI", "HuaweiTSC", "NVIDIA-NeMo", "Online-W", "UEdin"]
    systems += ["VolcTrans-AT", "VolcTrans-GLAT", "eTranslation"]
    start = "newstest2021.en-de"
    texts = {f"system-outputs/{start}.hyp.{one}.de": f"{one}\n" for one in systems}
    texts |= {f"references/{start}.ref.{one}.de": f"{one}\n" for one in "ACD"}
    scores = "system mqm_avg_score seg_id\nNemo\t-5.000000 1\nref-C\t-0.0 1\nref-B\t-1 1\nUEdin\tNone 1\n"
    texts |= {"mqm_newstest2021_ende.avg_seg_scores.tsv": scores, f"sources/{start}.src.en": "s\n"}
    assert cells(mqm_news(write(tmp_path, **texts)))[1:] == [
        ["en-de", "news", "Nemo", "1", "s", "C", "NVIDIA-NeMo", "-5.0", ""],
        ["en-de", "news", "ref-C", "1", "s", "A", "C", "-0.0", ""],
    ]


def test_marks_of_errors_are_no_text(tmp_path):
    scores = "system mqm_avg_score seg_id\nX\t-1.5 7\nref-A\t0 7\nX\tNone 8\n"
    rows = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\n"
    rows += "X\ttalk.1\t1\t7\tr\ta <v>b</v>\tu <v>v</v>\nref\ttalk.1\t1\t7\tr\ta b\tw\n"
    files = {"mqm_ted_ende.avg_seg_scores.tsv": scores, "mqm_ted_ende.tsv": rows}
    assert cells(mqm_ted(write(tmp_path, **files)))[1:] == [
        ["en-de", "ted", "X", "7", "a b", "w", "u v", "-1.5", "talk.1"],
        ["en-de", "ted", "ref-A", "7", "a b", "", "w", "0.0", "talk.1"],
    ]


def test_parts_of_mlqe(tmp_path):
    files = {}
    for archive, parts in {
        "en-de.tar.gz": ("train", "dev"),
        "en-de_test.tar.gz": ("test20",),
    }.items():
        files[archive] = tmp_path / archive
        with tarfile.open(files[archive], "w:gz") as packed:
            for part in parts:
                path = tmp_path / f"{part}.ende.df.short.tsv"
                path.write_text("header\n3\tone\teins\t[90, 80]\t85.0\t[1, 0]\t0.5\t-0.1\n")
                packed.add(path, f"en-de/{path.name}")
    expected = ["3", "one", "eins", "85.0", "0.5", "2", "-0.1"]
    parts = ["train", "dev", "test20"]
    assert cells(mlqe(files))[1:] == [["en-de", "wiki", part, *expected] for part in parts]


def test_tatoeba_without_its_test_set(tmp_path):
    rows = ["Go.\tGeh.", "Hi\u00a0!\tHallo !", "Hi !\tHallo !", "Stop!\tHalt!", "Tea?\tTee?"]
    with zipfile.ZipFile(tmp_path / "deu-eng.zip", "w") as archive:
        archive.writestr("deu.txt", "".join(f"{row}\n" for row in rows))
    files = write(tmp_path, **{"t.eng": "Stop!\n", "t.deu": "Tee?\n"})
    files["deu-eng.zip"] = tmp_path / "deu-eng.zip"
    english, german = (list(tatoeba(files, language)) for language in ("en", "de"))
    assert set(zip(english, german, strict=True)) == {("Go.", "Geh."), ("Hi !", "Hallo !")}
    assert len(english) == 2


def test_labelled_pairs_have_a_header_and_no_empty_line(tmp_path):
    files = write(tmp_path, table="a\tb\t1\t2\t3\t1\n\nc\td\t1\t2\t3\t0\n")
    lines = list(labelled_paracrawl(files))
    assert lines[0].split("\t") == ["en", "de", "hunalign_score", "ppl_en", "ppl_de", "label"]
    assert [line[0] for line in lines[1:]] == ["a", "c"]


@pytest.mark.parametrize("name", catalogue())
def test_originals_give_the_published_checksum(tmp_path, name):
    text = catalogue()[name]
    assert text.step is None or text.step in STEPS
    if not os.environ.get("WEEBILL_MIRROR"):
        pytest.skip("WEEBILL_MIRROR names no folder of originals")
    text.make(tmp_path / "text", Places(cache=str(tmp_path / "cache")))
    content = (tmp_path / "text").read_bytes()
    assert len(content) == text.bytes
    assert text.lines in (None, content.count(b"\n"))
    assert text.lines is None or content.endswith(b"\n")


def test_a_process_without_a_mirror_fetches_the_originals_from_their_addresses(tmp_path):
    if not (mirror := os.environ.get("WEEBILL_MIRROR")):
        pytest.skip("WEEBILL_MIRROR names no folder of originals")
    target = tmp_path / "data/origins/mono/news.en"  # from an archive packed by GitHub
    make = (
        "from weebill.corpus.origins import catalogue; from weebill.corpus.sources import Places; "
    )
    make += f"catalogue()['mono/news.en'].make({str(target)!r}, Places(cache={str(tmp_path)!r}))"
    known = {name: value for name, value in os.environ.items() if name != "WEEBILL_MIRROR"}
    with serving(originals(Path(mirror))) as (leading_here, served):
        subprocess.run([sys.executable, "-c", make], env=known | leading_here, check=True)
    assert len(served) == 1
    assert hashlib.sha256(target.read_bytes()).hexdigest() == catalogue()["mono/news.en"].sha256
