"""Corpora of OPUS by name and version, from hand-made archives with OPUS' layout."""

import gzip
import io
import zipfile

import pytest

from weebill.corpus.importers import opus
from weebill.corpus.importers.opus import OpusImporter, corpus_faults, opus_code, opus_codes
from weebill.corpus.importing import import_corpus
from weebill.corpus.sources import Places
from weebill.corpus.table import read_columns
from weebill.errors import InputError


def _archive(**members: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return data.getvalue()


EUROPARL = {
    "README": "Europarl\n",
    "LICENSE": "none\n",
    "Europarl.de-en.de": "Ja\nNein\u2028\n",
    "Europarl.de-en.en": "Yes\nNo\n",
    "Europarl.de-en.xml": "<xml/>",
}


@pytest.fixture
def europarl(site, monkeypatch):
    """Return the entry of a small Europarl v8 on a local server."""
    for name in ("OPUS_ZIP", "OPUS_TEXT"):
        pattern = getattr(opus, name)
        assert pattern.startswith("https://object.pouta.csc.fi/OPUS-")
        monkeypatch.setattr(
            opus, name, pattern.replace("https://object.pouta.csc.fi", site.address)
        )
    site.add("/OPUS-Europarl/v8/moses/de-en.txt.zip", _archive(**EUROPARL))
    site.add("/OPUS-Europarl/v8/mono/en.txt.gz", gzip.compress(b"Yes\nNo\nPerhaps\n"))
    return {"importer": "opus", "name": "Europarl", "version": "v8"}


def _imported(tmp_path, places, entry, languages, **options):
    import_corpus(tmp_path / "out.parquet", "x", entry, languages, places=places, **options)
    table = read_columns(tmp_path / "out.parquet", ["source", "target"], kept=False)
    return [tuple(row.values()) for row in table.to_pylist()]


def test_either_direction_and_one_side(tmp_path, places, europarl, site):
    rows = [("Yes", "Ja"), ("No", "Nein\u2028")]
    assert _imported(tmp_path, places, europarl, ("en", "de")) == rows
    assert _imported(tmp_path, places, europarl, ("de", "en")) == [row[::-1] for row in rows]
    assert _imported(tmp_path, places, europarl | {"lines": {"last": 1}}, ("en", "de")) == rows[:1]
    assert len(site.seen) == 1
    mono = _imported(tmp_path, places, europarl, ("en", "de"), monolingual="source")
    assert mono == [("Yes", None), ("No", None), ("Perhaps", None)]


def test_what_opus_get_fetched_serves(tmp_path, places, europarl, site):
    name = "Europarl_v8_moses_de-en.txt.zip"
    (tmp_path / name).write_bytes(_archive(**EUROPARL | {"Europarl.de-en.en": "Aye\nNay\n"}))
    entry = {**europarl, "local_dir": str(tmp_path)}
    rows = _imported(tmp_path, places, entry, ("en", "de"))
    assert rows[0] == ("Aye", "Ja") and not site.seen
    [source] = OpusImporter(name="Europarl", version="v8").sources(("en", "de"), "source", Places())
    assert source.file_name == "Europarl_v8_mono_en.txt.gz"
    [target] = OpusImporter(name="Europarl", version="v8").sources(("en", "de"), "target", Places())
    assert target.file_name == "Europarl_v8_mono_de.txt.gz"


def test_spellings_of_opus(tmp_path, places, site, europarl):
    """The expected spellings come from the index of OPUS in mtdata, and from file names in its archives."""
    assert opus_codes("OpenSubtitles", "v2018", ("en", "zh")) == ("en", "zh_cn")
    assert opus_codes("OpenSubtitles", "v2018", ("zh-TW", "en")) == ("zh_tw", "en")
    assert opus_codes("OpenSubtitles", "v2018", ("en", "pt")) == ("en", "pt")
    assert opus_codes("OpenSubtitles", "v2018", ("en", "pt-BR")) == ("en", "pt_br")
    assert opus_codes("Tatoeba", "v2021-07-22", ("en", "no")) == ("en", "nb")
    assert opus_codes("Newer", "v1", ("en", "zh-TW")) == ("en", "zh_TW")  # not in the index
    assert opus_code("OpenSubtitles", "v2018", "zh-CN") == "zh_cn"
    assert list(corpus_faults("OpenSubtitles", "v2018", ("en", "zh"))) == []
    text = {"OpenSubtitles.en-zh_cn.en": "Yes\n", "OpenSubtitles.en-zh_cn.zh_cn": "是\n"}
    site.add("/OPUS-OpenSubtitles/v2018/moses/en-zh_cn.txt.zip", _archive(**text))
    entry = {"importer": "opus", "name": "OpenSubtitles", "version": "v2018"}
    assert _imported(tmp_path, places, entry, ("zh", "en")) == [("是", "Yes")]


def test_no_such_corpus(tmp_path, places, europarl):
    with pytest.raises(InputError, match=r"/v9/moses/de-en\.txt\.zip: cannot be fetched .*404"):
        _imported(tmp_path, places, {**europarl, "version": "v9"}, ("en", "de"))
    assert list(corpus_faults("Europarl", "v8", ("en", "de"))) == []
    [(key, message)] = corpus_faults("Europarl", "v9", ("en", "de"))
    assert key == "version" and "found 'v9', expected one of v3, v7, v8" in message
    [(key, message)] = corpus_faults("Europral", "v8", ("en", "de"))
    assert key == "name" and message.endswith("for de-en in OPUS; did you mean 'Europarl'?")
