"""Test sets of sacreBLEU: spellings of language pairs, and original languages of segments."""

import pytest
from sacrebleu import DATASETS

from tests.corpus.importers.published_sets import publish
from weebill.corpus.importers.sacrebleu_sets import SacrebleuImporter, langpair
from weebill.corpus.sources import Places
from weebill.errors import InputError

LANGUAGES = ("en", "de")
DOCUMENTS = {"en": ["The bird sings.", "It is late."], "de": ["Good morning."]}


def test_pairs_of_sacrebleu():
    known = DATASETS["wmt22"].langpairs
    assert langpair(known, ("en", "zh-CN")) == "en-zh" and langpair(known, ("zh", "en")) == "zh-en"
    assert langpair(known, ("eng_Latn", "de-AT")) == "en-de"
    assert langpair(known, ("en", "th")) is None


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Add a test set in WMT's format to sacreBLEU; its documents have two original languages."""
    publish(tmp_path, monkeypatch, list(DOCUMENTS.items()))


def rows(**keys):
    importer = SacrebleuImporter(name="wmt99", **keys)
    sources = importer.sources(LANGUAGES, None, Places())
    return list(importer.rows(sources, LANGUAGES, None))


@pytest.mark.usefixtures("published")
def test_segments_first_written_in_a_language():
    every = rows()
    assert every[0] == ("src The bird sings.", "ref The bird sings.") and len(every) == 3
    assert rows(written_in="source") == every[:2]
    assert rows(written_in="target") == every[2:]
    found = SacrebleuImporter(name="wmt99").original_languages(LANGUAGES, Places())
    assert found == ["en", "en", "de"]


@pytest.mark.usefixtures("published")
def test_what_the_set_does_not_know_is_told(monkeypatch):
    monkeypatch.setitem(DOCUMENTS, "de", [])
    monkeypatch.setattr(DATASETS["wmt99"], "fieldnames", lambda pair: ["src", "ref"])
    with pytest.raises(InputError, match="wmt99 does not know in which language"):
        rows(written_in="source")
