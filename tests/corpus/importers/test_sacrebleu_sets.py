"""Test sets of sacreBLEU: spellings of language pairs, original languages of segments, and references."""

from itertools import combinations

import pytest
from sacrebleu import DATASETS
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

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


REFERENCES = "CADBFE"  # in the order of the file


@pytest.fixture
def referenced(tmp_path, monkeypatch):
    """Add the test sets wmt99, with reference A, and wmt99/REF, with other ones, as those of wmt21."""
    raw = tmp_path / "raw"
    raw.mkdir()
    texts = "".join(
        f'<ref lang="de" translator="{ref}"><seg id="1">by {ref}</seg></ref>' for ref in REFERENCES
    )
    (raw / "set.xml").write_text(
        '<dataset id="wmt99"><doc id="1" origlang="en">'
        f'<src lang="en"><seg id="1">The bird sings.</seg></src>{texts}</doc></dataset>'
    )
    for refs in ["A", *REFERENCES, *combinations(sorted(REFERENCES), 2)]:
        name = "wmt99" if refs == "A" else f"wmt99/{''.join(refs)}"
        dataset = WMTXMLDataset(name, data=[], langpairs={"en-de": ["set.xml"]}, refs=list(refs))
        monkeypatch.setattr(dataset, "_rawdir", str(raw))
        monkeypatch.setattr(dataset, "_outdir", str(tmp_path))
        monkeypatch.setattr(dataset, "maybe_download", lambda: None)
        monkeypatch.setitem(DATASETS, name, dataset)


@pytest.mark.usefixtures("referenced")
@pytest.mark.parametrize(
    ("name", "reference"),
    [("wmt99", "A"), ("wmt99/C", "C"), ("wmt99/B", "B")]
    + [(f"wmt99/{a}{b}", a) for a, b in combinations(sorted(REFERENCES), 2)],
)
def test_the_name_chooses_the_reference_in_every_process(name, reference):
    """sacreBLEU lists several references in the order of a set of texts, which differs between processes."""
    importer = SacrebleuImporter(name=name)
    sources = importer.sources(LANGUAGES, None, Places())
    assert list(importer.rows(sources, LANGUAGES, None)) == [("The bird sings.", f"by {reference}")]
    assert all(name in source.place for source in sources)
