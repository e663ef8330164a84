"""Data sets by mtdata's names: the index, and all file formats in it."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from weebill.corpus.importers import mtdata_index
from weebill.corpus.importers.mtdata import name_fault, tmx_units
from weebill.corpus.importers.mtdata_index import find_entry, opus_pairs
from weebill.corpus.importers.reading import TextFile
from weebill.corpus.importing import import_corpus
from weebill.corpus.table import read_columns
from weebill.errors import InputError

PAIR = ("en", "de")
ENGLISH, GERMAN = "One\nTwo\x85more\n", "Eins\nZwei\n"
ROWS = [("One", "Eins"), ("Two\x85more", "Zwei")]


def test_the_index_is_all_of_mtdata():
    assert mtdata_index._index().count("\n") == 1 + 291_471
    entry = find_entry("Statmt-europarl-10-deu-eng")
    url = "http://www.statmt.org/europarl/v10/training/europarl-v10.de-en.tsv.gz"
    assert (entry.urls, entry.form, entry.packed) == ((url,), "tsv", ".gz")
    assert (entry.version, entry.languages) == ("10", ("deu", "eng"))
    assert find_entry("Facebook-wikimatrix-1-deu-eng").columns == (1, 2)  # a score comes first
    entry = find_entry("Statmt-commoncrawl_wmt13-1-deu-eng")
    assert entry.members == ("commoncrawl.de-en.de", "commoncrawl.de-en.en")
    assert find_entry("Statmt-europarl-10") is None  # only a name's beginning
    assert ("de", "en") in opus_pairs("Europarl", "v8")
    assert ("en", "de") not in opus_pairs("Europarl", "v8")  # alphabetical order


def test_what_keeps_a_name_from_serving():
    assert name_fault("Statmt-europarl-10-deu-eng", PAIR, None) is None
    assert name_fault("Statmt-europarl-10-deu-eng", ("de", "en"), "source") is None
    assert name_fault("Statmt-news_crawl-2018-eng", PAIR, "source") is None
    near = name_fault("Statmt-europral-10-deu-eng", PAIR, None)
    assert near.endswith("in mtdata; did you mean 'Statmt-europarl-10-deu-eng'?")
    assert "expected one with eng and fra" in name_fault(
        "Statmt-europarl-10-deu-eng", ("en", "fr"), None
    )
    assert "expected one with eng and deu" in name_fault("Statmt-news_crawl-2018-eng", PAIR, None)
    for name, languages in (
        ("Statmt-news_commentary-16-eng-zho", ("en", "zh-CN")),
        ("Statmt-news_commentary-16-eng-por", ("en", "pt-BR")),
        ("OPUS-opensubtitles-v2018-eng-zho_CN", ("zh", "en")),
        ("Flores-flores200_dev-1-zho_Hans-zho_Hant", ("zh-TW", "zh-CN")),
    ):
        assert name_fault(name, languages, None) is None
    hans = "OPUS-opensubtitles-v2018-eng-zho_CN"
    assert "expected one with eng and zho_TW" in name_fault(hans, ("en", "zh-TW"), None)
    same = "OPUS-tatoeba-v20210310-tha-tha"
    assert "expected one with tha and tha" in name_fault(same, ("th", "th"), None)
    other = name_fault("Statmt-newstest_ende-2019-eng-deu", PAIR, None)
    assert "format sgm is not read here; importer sacrebleu reads it" in other


def _zip(**members: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name.replace("__", "."), body)
    return data.getvalue()


def _tgz(**members: bytes) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, body in members.items():
            member = tarfile.TarInfo("training/" + name.replace("__", "."))
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return data.getvalue()


def _tmx(*units: str) -> bytes:
    return f'<?xml version="1.0"?><tmx><header/><body>{"".join(units)}</body></tmx>'.encode()


def _unit(**sides: str) -> str:
    variants = (f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in sides.items())
    return f"<tu>{''.join(variants)}</tu>"


@pytest.fixture
def index(site, monkeypatch):
    """Return a function that puts a data set into the index, and its file on the site."""
    lines = ["name\turls\tmembers\tform\tpacked\tcolumns\n"]
    monkeypatch.setattr(mtdata_index, "_index", lambda: "".join(lines))

    def add(name, form, packed, *bodies, members="", columns=""):
        urls = [site.add(f"/{name}/{number}/data", body) for number, body in enumerate(bodies)]
        lines.append(f"{name}\t{' '.join(urls)}\t{members}\t{form}\t{packed}\t{columns}\n")
        find_entry.cache_clear()
        return {"importer": "mtdata", "name": name}

    yield add
    find_entry.cache_clear()


def _imported(tmp_path, places, entry, languages=PAIR, **options):
    import_corpus(tmp_path / "out.parquet", "x", entry, languages, places=places, **options)
    table = read_columns(tmp_path / "out.parquet", ["source", "target"], kept=False)
    return [tuple(row.values()) for row in table.to_pylist()]


def _fails(tmp_path, places, entry, *parts):
    with pytest.raises(InputError) as caught:
        _imported(tmp_path, places, entry)
    for part in ("corpus 'x'", *parts):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value) and not (tmp_path / "out.parquet").exists()


SIDES = {"corpus__de": GERMAN.encode(), "corpus__en": ENGLISH.encode(), "README": b"x"}
TABLE = "".join(f"0.5\t{target}\t{source}\tmore\n" for source, target in ROWS).encode()


@pytest.mark.parametrize(
    ("form", "packed", "bodies", "options"),
    [
        ("txt", ".zip", [_zip(**SIDES)], {"members": "*.de|*.en"}),
        ("txt", ".tgz", [_tgz(**SIDES)], {"members": "training/corpus.de|training/corpus.en"}),
        ("txt", "", [GERMAN.encode(), ENGLISH.encode()], {}),
        ("txt", ".gz", [gzip.compress(GERMAN.encode()), gzip.compress(ENGLISH.encode())], {}),
        ("tsv", "", [TABLE], {"columns": "1,2"}),
        ("tsv", ".xz", [lzma.compress(TABLE)], {"columns": "1,2"}),
        ("tsv", ".bz2", [bz2.compress(TABLE)], {"columns": "1,2"}),
        ("tsv", ".tgz", [_tgz(a__tsv=TABLE)], {"columns": "1,2", "members": "*/a.tsv"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_form(tmp_path, places, index, form, packed, bodies, options):
    entry = index("Statmt-x-1-deu-eng", form, packed, *bodies, **options)
    assert _imported(tmp_path, places, entry) == ROWS
    assert _imported(tmp_path, places, entry, ("de", "en")) == [row[::-1] for row in ROWS]
    mono = [(source, None) for source, _ in ROWS]
    assert _imported(tmp_path, places, entry, ("en", "cs"), monolingual="source") == mono
    mono = [(None, target) for _, target in ROWS]
    assert _imported(tmp_path, places, entry, ("cs", "de"), monolingual="target") == mono


def test_several_sets_of_one_side(tmp_path, places, index):
    names = [f"Statmt-news_crawl-{year}-eng" for year in (2007, 2008)]
    for name in names:
        index(name, "txt", ".gz", gzip.compress(f"{name}\n".encode()))
    entry = {"importer": "mtdata", "name": names}
    rows = _imported(tmp_path, places, entry, monolingual="source")
    assert rows == [(name, None) for name in names]


def test_translation_memories(tmp_path, places, index, caplog):
    caplog.set_level("INFO")
    units = [
        _unit(**{"en-GB": "\n  A &amp; <bpt>{b}</bpt>B<ept>{/b}</ept>\n C ", "de": "D<hi>E</hi>"}),
        _unit(en="no German", fr="pas d'allemand"),
        _unit(DE="Zwei", EN="Two"),
    ]
    archive = _zip(one__tmx=_tmx(*units), two__tmx=_tmx(_unit(deu="Drei", eng="Three")))
    entry = index("Tilde-x-1-deu-eng", "tmx", ".zip", archive, members="*.tmx")
    assert _imported(tmp_path, places, entry) == [
        ("A & B  C", "DE"),
        ("Two", "Zwei"),
        ("Three", "Drei"),
    ]
    assert "1 units are not in en and de" in caplog.text
    mono = _imported(tmp_path, places, entry, monolingual="source")
    assert [source for source, _ in mono] == ["A & B  C", "no German", "Two", "Three"]
    mono = _imported(tmp_path, places, entry, monolingual="target")
    assert mono == [(None, "DE"), (None, "Zwei"), (None, "Drei")]


@pytest.mark.parametrize(
    ("source", "target", "row"),
    [
        ("en-GB", "zh-TW", ("colour", "顏色")),
        ("en", "zh-Hans", ("color", "颜色")),
        ("pt-PT", "pt-BR", ("autocarro", "ônibus")),
        ("sr-Cyrl", "sr-Latn", ("боја", "boja")),
        ("hr", "sv", None),
        ("en_US", "no", ("color", "farge")),
        ("en", "de", ("color", "Farbe")),
    ],
)
def test_a_unit_with_several_variants_gives_the_nearest(tmp_path, source, target, row):
    variants = {
        "en-US": "color", "en-GB": "colour", "zh-CN": "颜色", "zh-TW": "顏色", "pt-PT": "autocarro",
        "pt-BR": "ônibus", "sr-Cyrl": "боја", "sr-Latn": "boja", "NB_no": "farge", "de-XYZ": "Farbe",
    }  # fmt: skip
    unit = "".join(
        f'<tuv xml:lang="{code}"><seg>{words}</seg></tuv>' for code, words in variants.items()
    )
    (tmp_path / "a.tmx").write_bytes(_tmx(f"<tu>{unit}</tu>"))
    units = tmx_units(TextFile(tmp_path / "a.tmx"), source, target)
    if row is None:
        with pytest.raises(InputError, match="none of its 1 units is in hr and sv"):
            list(units)
    else:
        assert list(units) == [row]


def test_bad_translation_memories(tmp_path, places, index):
    broken = _tmx(_unit(en="a", de="b")).replace(b"</body>", b"\n\n</bdy>")
    entry = index("Tilde-broken-1-deu-eng", "tmx", "", broken)
    _fails(tmp_path, places, entry, "data:3: not well-formed XML")
    entry = index("Tilde-other-1-deu-eng", "tmx", "", _tmx(_unit(en="a", fr="b")))
    _fails(tmp_path, places, entry, "none of its 1 units is in")
    latin = _tmx(_unit(en="a", de="b")).replace(b">b<", b">\xfc<")
    entry = index("Tilde-latin-1-deu-eng", "tmx", "", latin)
    _fails(tmp_path, places, entry, "not well-formed XML (not well-formed (invalid token)")


def test_nothing_is_lost_silently(tmp_path, places, index):
    shorter = _zip(x__de=b"Eins\n", x__en=b"One\nTwo\n")
    entry = index("OPUS-shorter-1-deu-eng", "txt", ".zip", shorter, members="*.de|*.en")
    _fails(tmp_path, places, entry, "data/*.en has 2 lines and", "data/*.de has 1")
    double = _zip(x__de=b"Eins\n", y__de=b"Eins\n", x__en=b"One\n")
    entry = index("OPUS-double-1-deu-eng", "txt", ".zip", double, members="*.de|*.en")
    _fails(tmp_path, places, entry, "expected one member '*.de', found x.de, y.de")
    entry = index("OPUS-none-1-deu-eng", "txt", ".tgz", _tgz(README=b"x"), members="*.de|*.en")
    _fails(tmp_path, places, entry, "expected one member '*.en', found none")
    latin = _zip(x__de=b"Eins\nZw\xf6lf\n", x__en=b"One\nTwo\n")
    entry = index("OPUS-latin-1-deu-eng", "txt", ".zip", latin, members="*.de|*.en")
    _fails(tmp_path, places, entry, "data/*.de:2: not UTF-8")
    ragged = index("Statmt-ragged-1-deu-eng", "tsv", "", b"Eins\tOne\nZwei\n")
    _fails(tmp_path, places, ragged, "data:2: 1 tab-separated columns, expected at least 2")


@pytest.mark.parametrize("packed", [".zip", ".tgz", ".xz", ".bz2"])
def test_damaged_archives(tmp_path, places, index, packed):
    text = "".join(f"{number * number:x}\n" for number in range(40_000)).encode()
    pack = {".xz": lzma.compress, ".bz2": bz2.compress}
    if packed in pack:
        entry = index("Statmt-x-1-deu-eng", "txt", packed, *(pack[packed](text)[:-5000],) * 2)
    else:
        body = (_zip if packed == ".zip" else _tgz)(a__de=text, a__en=text)
        half = len(body) // 4
        body = body[:half] + bytes(200) + body[half + 200 :]
        entry = index("Statmt-x-1-deu-eng", "txt", packed, body, members="*a.de|*a.en")
    _fails(tmp_path, places, entry, "damaged or truncated", "and run again")


@pytest.mark.parametrize(("suffix", "pack"), [(".xz", lzma.compress), (".bz2", bz2.compress)])
@pytest.mark.parametrize("between", [b"", b"x"])
def test_archives_one_after_the_other(tmp_path, places, index, suffix, pack, between):
    both = pack(b"Eins\tOne\n") + between + pack(b"Zwei\tTwo\n")
    entry = index("Statmt-x-1-deu-eng", "tsv", suffix, both)
    if between:
        _fails(tmp_path, places, entry, "damaged or truncated after line 1", "and run again")
    else:
        assert _imported(tmp_path, places, entry) == [("One", "Eins"), ("Two", "Zwei")]


def test_checksums_go_by_the_name_in_the_local_folder(tmp_path, places, index):
    entry = index("Statmt-x-1-deu-eng", "tsv", "", b"Eins\tOne\n")
    wrong = {**entry, "sha256": {"Statmt-x-1-deu-eng.tsv": "1" * 64}}
    _fails(tmp_path, places, wrong, "expected 1111")
    _fails(tmp_path, places, {**entry, "sha256": {"x.tsv": "1" * 64}}, "'x.tsv', which is none of")
    (tmp_path / "own").mkdir()
    (tmp_path / "own/Statmt-x-1-deu-eng.tsv").write_bytes(b"Hier\tHere\n")
    own = {**entry, "local_dir": str(tmp_path / "own")}
    assert _imported(tmp_path, places, own) == [("Here", "Hier")]
