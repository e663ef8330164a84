"""Mistakes in corpora and test sets: the full error lines."""

from tests.configuration.changes import each_case
from weebill.configuration.checking import check

A = "a" * 64
MTDATA = {"importer": "mtdata"}
OPUS = {"importer": "opus", "name": "Europarl", "version": "v8"}
HUB = {"importer": "hugging_face", "source_field": "en"}
FILES = {"importer": "files", "source": "x.en", "target": "x.de"}
LATER = {"first": 51}
TWO = {**MTDATA, "name": ["Statmt-europarl-10-deu-eng", "Statmt-europarl-9-deu-eng"]}

NOISE = {"share": 0.1, "other_languages": ["tatoeba"]}
COMMON = {"source_words": 500, "target_words": 700, "longest": 7}

# name: (changes of a valid experiment, removed keys, expected lines)
CASES = {
    "a test set that is training data": (
        {
            "corpora": {
                "news": {"importer": "tatoeba", "pairs": 5, "skip": 70},
                "wmt": {"importer": "sacrebleu", "name": "wmt19"},
                "files": {"importer": "files", "source": "data//a.en", "target": "data/a.de"},
            },
            "test_sets": {
                "news": {"importer": "tatoeba", "pairs": 9, "skip": 62},
                "wmt19": {"importer": "sacrebleu", "name": "wmt19"},
                "files": {"importer": "files", "source": "b.en", "target": "./data/x/../a.de"},
            },
            "validation": [{"importer": "files", "source": "c.en", "target": "data/a.de"}],
        },
        ["test_sets.news.source", "test_sets.news.target"],
        [
            "test_sets.news: found pair 70 of the embedded text, which is training data too "
            "(corpora.news), expected other data",
            "test_sets.wmt19: found test set 'wmt19', which is training data too (corpora.wmt), "
            "expected other data",
            "test_sets.files: found 'data/a.de', which is training data too (corpora.files), "
            "expected other data or lines",
            "validation[0]: found 'data/a.de', which is training data too (corpora.files), "
            "expected other data or lines",
            "validation[0]: found 'data/a.de', which is a test set too (test_sets.files), expected other "
            "data or lines (validation_may_overlap_tests: true permits it)",
        ],
    ),
    "files that do not fit together": (
        {
            "corpora": {
                "both": {"importer": "files", "source": "a", "table": "c"},
                "neither": {"importer": "files", "target": "b"},
                "half": {"importer": "files", "source": "a"},
                "same": {"importer": "files", "source": "a", "target": "a"},
                "mono": {"importer": "files", "use": "monolingual", "source": "a", "target": "b"},
                "back": {"importer": "files", "use": "monolingual-target", "source": "a"},
                "table": {"importer": "files", "table": "t.tsv"},
                "column": {"importer": "files", "table": "t.tsv", "columns": {"source": 0}},
                "mixed": {
                    "importer": "files",
                    "source": "a",
                    "target": "b",
                    "columns": {"source": 0},
                },
            },
            "reverse_teacher": {"architecture": "big"},
        },
        [],
        [
            "corpora.both: found both, expected one of source, table",
            "corpora.neither.source: missing, expected the source side of parallel text",
            "corpora.half.target: missing, expected the target side of parallel text",
            "corpora.same.target: found 'a' as source too, expected two sides",
            "corpora.mono.target: found in a monolingual corpus, expected the source side alone",
            "corpora.back.source: found in a monolingual corpus, expected the target side alone",
            "corpora.back.target: missing, expected the target side of monolingual-target text",
            "corpora.table.columns: missing, expected the columns of the table, counted from 0",
            "corpora.column.columns.target: missing, expected the target side of parallel text",
            "corpora.mixed.columns: found without table, expected source and target alone",
        ],
    ),
    "lines of which there are none": (
        {
            "corpora": {
                "none": {**FILES, "lines": {"first": 5, "last": 2}},
                "one": {**FILES, "source": "y.en", "lines": {"first": 5, "last": 5}},
            }
        },
        [],
        ["corpora.none.lines.last: found 2, expected at least lines.first 5"],
    ),
    "text that is held out of a corpus": (
        {
            "corpora": {
                "all": {**FILES, "lines": {"first": 201}},
                "several": {**TWO, "lines": LATER},
            },
            "validation": {**FILES, "lines": {"last": 100}},
            "test_sets": {
                "apart": {**FILES, "lines": {"first": 101, "last": 200}},
                "common": {**FILES, "lines": {"first": 150, "last": 250}},
                "same_sets": {**TWO, "lines": {"last": 50}},
                "other_sets": {**MTDATA, "name": TWO["name"][1:], "lines": {"last": 50}},
            },
        },
        ["validation.pairs", "test_sets.news"],
        [
            "test_sets.common: found 'x.de', which is training data too (corpora.all), expected other data or "
            "lines",
            "test_sets.other_sets: found 'Statmt-europarl-9-deu-eng', which is training data too "
            "(corpora.several), expected other data or lines",
        ],
    ),
    "data sets by name": (
        {
            "corpora": {
                "good": {**MTDATA, "name": "Statmt-europarl-10-deu-eng"},
                "typo": {**MTDATA, "name": "Statmt-europral-10-deu-eng"},
                "other": {
                    **MTDATA,
                    "name": ["Statmt-europarl-9-deu-eng", "Statmt-europarl-9-ces-eng"],
                },
                "mono": {**MTDATA, "name": "Statmt-news_crawl-2018-deu", "use": "monolingual"},
                "sgm": {**MTDATA, "name": "Statmt-newstest_ende-2019-eng-deu"},
                "opus": {**OPUS, "name": "Europral"},
                "version": {**OPUS, "version": "v9"},
                "new": {**OPUS, "version": "v99", "sha256": A},
                "crawl": {**OPUS, "version": "v99", "use": "monolingual"},
            }
        },
        [],
        [
            "corpora.typo.name: no data set 'Statmt-europral-10-deu-eng' in mtdata; did you mean "
            "'Statmt-europarl-10-deu-eng'?",
            "corpora.other.name[1]: found 'Statmt-europarl-9-ces-eng', expected one with eng and deu",
            "corpora.mono.name: found 'Statmt-news_crawl-2018-deu', expected one with eng",
            "corpora.sgm.name: found 'Statmt-newstest_ende-2019-eng-deu', whose format sgm is not read here; "
            "importer sacrebleu reads it",
            "corpora.opus.name: no corpus 'Europral' for de-en in OPUS; did you mean 'Europarl'?",
            "corpora.version.version: found 'v9', expected one of v3, v7, v8, the versions of Europarl in "
            "OPUS",
        ],
    ),
    "data sets of the hub": (
        {
            "corpora": {
                "both": {**HUB, "name": "a/b", "folder": "c", "target_field": "de"},
                "neither": {**HUB, "target_field": "de"},
                "moving": {**HUB, "name": "a/b", "target_field": "de"},
                "fixed": {**HUB, "folder": "c", "revision": A[:40], "target_field": "de"},
                "half": {**HUB, "folder": "c"},
                "mono": {**HUB, "folder": "c", "use": "monolingual", "target_field": "de"},
                "same": {**HUB, "folder": "c", "target_field": "en"},
            }
        },
        [],
        [
            "corpora.both: found both, expected one of name, folder",
            "corpora.neither: found neither, expected one of name, folder",
            "corpora.moving.revision: missing, expected the commit of the data set on the hub",
            "corpora.fixed.revision: found beside folder, expected it beside name alone",
            "corpora.half.target_field: missing, expected the target side of parallel text",
            "corpora.mono.target_field: found in a monolingual corpus, expected the source side alone",
            "corpora.same.target_field: found 'en' as source_field too, expected two sides",
        ],
    ),
    "named data used twice": (
        {
            "corpora": {
                "one": {**MTDATA, "name": "OPUS-europarl-v8-deu-eng"},
                "hub": {**HUB, "folder": "data/", "target_field": "de"},
            },
            "validation": OPUS,
            "test_sets": {"hub": {**HUB, "folder": "data", "target_field": "de"}},
        },
        ["validation.pairs", "test_sets.news"],
        [
            "test_sets.hub: found 'data train', which is training data too (corpora.hub), expected other "
            "data or lines",
            "validation: found 'Europarl v8' of OPUS, which is training data too (corpora.one), expected "
            "other data or lines",
        ],
    ),
    "addresses and archives": (
        {
            "corpora": {
                "plain": {"importer": "files", "source": "https://x.org/a", "target": "b"},
                "old": {**FILES, "source": "http://x.org/a", "sha256": {"source": A}},
                "odd": {**FILES, "source": "https://[::1", "sha256": {"source": A}},
                "port": {**FILES, "source": "https://x.org:99999/a", "sha256": {"source": A}},
                "summed": {**FILES, "sha256": {"table": A}},
                "packed": {**FILES, "source": "x.en.bz2"},
                "fetched": {
                    "importer": "files",
                    "table": "https://a.org/x.zip?raw=1",
                    "columns": {"source": 0, "target": 1},
                    "sha256": {"table": A},
                },
            },
            "cleaning": {"language_id": {"model": "https://x.org/lid.bin"}},
        },
        [],
        [
            "corpora.plain.sha256.source: missing, expected the SHA-256 of what https://x.org/a holds",
            "corpora.old.source: found 'http://x.org/a', expected a local path or an address https://…",
            "corpora.odd.source: found 'https://[::1', whose host or port is none; mend the address",
            "corpora.port.source: found 'https://x.org:99999/a', whose host or port is none; mend the address",
            "corpora.summed.sha256.table: found a checksum, expected the key corpora.summed.table too",
            "corpora.packed.source: found 'x.en.bz2', expected plain text, .gz, .xz or .zst",
            "corpora.fetched.table: found 'https://a.org/x.zip?raw=1', expected plain text, .gz, .xz or .zst",
            "cleaning.language_id.sha256: missing, expected the SHA-256 of what https://x.org/lid.bin holds",
        ],
    ),
    "languages": (
        {"languages": {"source": "en", "target": "en"}},
        [],
        ["languages.target: found 'en' as source too, expected two languages"],
    ),
    "one language by two codes": (
        {"languages": {"source": "en", "target": "eng"}},
        [],
        [
            "languages.target: found 'eng' and 'en', which are the same, expected two languages",
            "corpora.tatoeba.importer: tatoeba: found languages en to eng, expected en to de, the only ones it knows",
            "validation.importer: tatoeba: found languages en to eng, expected en to de, the only ones it knows",
        ],
    ),
    "languages that the importers lack": (
        {
            "languages": {"target": "xx"},
            "test_sets": {"wmt": {"importer": "sacrebleu", "name": "wmt99"}},
            "cleaning": {"language_id": {"model": "tatoeba"}},
        },
        ["test_sets.news"],
        [
            "languages.target: no language 'xx', expected a tag of BCP 47 such as en, yue, sr-Latn or pt-BR",
            "corpora.tatoeba.importer: tatoeba: found languages en to xx, expected en to de, "
            "the only ones it knows",
            "validation.importer: tatoeba: found languages en to xx, expected en to de, "
            "the only ones it knows",
            "cleaning.language_id.model: tatoeba: found languages en to xx, expected en to de, "
            "the only ones it knows",
            "test_sets.wmt.name: no test set 'wmt99' in sacreBLEU; did you mean 'wmt19'?",
        ],
    ),
    "noise without pairs": (
        {
            "corpora": {
                "more": {"importer": "tatoeba", "pairs": 9, "noise": NOISE, "use": "monolingual"}
            }
        },
        [],
        [
            "corpora.more.noise: found in a monolingual corpus, expected none: it damages pairs",
        ],
    ),
    "noise in wrong languages": (
        {
            "corpora": {
                "more": FILES | {"noise": {"share": 0.1}},
                "most": FILES | {"noise": {"kinds": ["copied"], "other_languages": ["x.fr"]}},
                "only": {
                    "importer": "files",
                    "source": "y.en",
                    "use": "monolingual",
                    "noise": {"share": 1.5, "kinds": ["copied", "late"]},
                },
            }
        },
        [],
        [
            "corpora.most.noise.share: missing, expected a number",
            "corpora.only.noise.share: found 1.5, expected at most 1",
            "corpora.only.noise.kinds[1]: found 'late', expected one of misaligned, wrong_language, truncated, "
            "copied",
        ],
    ),
    "more embedded text than there is": (
        {"corpora": {"more": {"importer": "tatoeba", "pairs": 19_891}}},
        [],
        [
            "corpora.more.pairs: found 19,891 after 110 that are skipped or read by other entries, expected "
            "no more than the 20,000 embedded pairs in all",
        ],
    ),
    "a number of hundreds of digits": (
        {"corpora": {"more": {"importer": "tatoeba", "pairs": 10**300}}},
        [],
        [
            "corpora.more.pairs: found 1,000,000,000,000,00… (401 characters) after 110 that are skipped or read by "
            "other entries, expected no more than the 20,000 embedded pairs in all",
        ],
    ),
    "more embedded text of common words than there is": (
        {"corpora": {"more": {"importer": "tatoeba", "pairs": 10_700, **COMMON}}},
        [],
        [
            "corpora.more.pairs: found 10,700 after 110 that are skipped or read by other entries, expected "
            "no more than the 10,797 embedded pairs in all",
        ],
    ),
    "embedded text of common words that another entry reads": (
        {"corpora": {"more": {"importer": "tatoeba", "pairs": 10, "skip": 0, **COMMON}}},
        [],
        [
            "validation: found pair 0 of the embedded text, which is training data too (corpora.more), expected "
            "other data",
        ],
    ),
    "wrong languages that are not": (
        {
            "languages": {"source": "fr"},
            "corpora": {
                "more": FILES | {"noise": NOISE},
            },
            "validation": {"importer": "files", "source": "v.en", "target": "v.de"},
        },
        ["corpora.tatoeba", "validation.pairs"],
        [
            "corpora.more.noise.other_languages: tatoeba: found fr among the experiment's languages, "
            "expected files of others",
        ],
    ),
    "noise without a text": (
        {
            "corpora": {
                "more": FILES | {"noise": {"share": 0.1}},
                "most": FILES
                | {"noise": {"share": 0.1, "kinds": ["copied"], "other_languages": ["x.fr"]}},
            }
        },
        [],
        [
            "corpora.more.noise.other_languages: missing beside the kind wrong_language, expected both or neither",
            "corpora.most.noise.other_languages: found without the kind wrong_language, expected both or neither",
        ],
    ),
}


@each_case(CASES)
def test_lines(faults, changes, without, expected):
    assert faults(changes, without) == expected


def test_validation_may_overlap_tests(experiment, zoo):
    same = {
        "validation": [FILES],
        "test_sets": {"news": FILES},
        "validation_may_overlap_tests": True,
    }
    assert check(experiment(same), "trial.yaml", zoo)["validation_may_overlap_tests"]
