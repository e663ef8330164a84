"""Every kind of mistake in a configuration and the lines that the user reads, in full."""

import pytest

from goldcrest.configuration import ConfigurationError, check

A = "a" * 64
MTDATA = {"importer": "mtdata"}
OPUS = {"importer": "opus", "name": "Europarl", "version": "v8"}
HUB = {"importer": "hugging_face", "source_field": "en"}
FILES = {"importer": "files", "source": "x.en", "target": "x.de"}

# name: (changes to a valid experiment, keys taken away, expected lines)
SCHEMA = {
    "unknown key": (
        {"training": {"updaets": 3}},
        [],
        [
            "training.updaets: unknown key, expected one of batch_tokens, updates, learning_rate, warmup, "
            "validate_every, patience, checkpoint_every, smoothing, dropout, label_smoothing, accumulate, "
            "clip_norm, max_pieces, precision, guided_alignment, stages; did you mean 'updates'?"
        ],
    ),
    "missing keys": (
        {},
        ["experiment", "languages.target", "students", "validation"],
        [
            "experiment: missing, expected a folder name of letters, digits and . _ -",
            "validation: missing, expected keys with values or a list",
            "students: missing, expected a list",
            "languages.target: missing, expected a language code of two or three small letters, such as en",
        ],
    ),
    "wrong types": (
        {
            "seed": "x",
            "students": "small",
            "vocabulary": [],
            "hardware": None,
            "training": {"updates": 1.5, "learning_rate": "1e-4", "dropout": True},
            "cleaning": {"remove_test_overlap": "yes"},
        },
        [],
        [
            "vocabulary: found a list, expected keys with values",
            "students: found 'small', expected a list",
            "seed: found 'x', expected a whole number",
            "hardware: found nothing, expected keys with values",
            "training.updates: found 1.5, expected a whole number",
            "training.learning_rate: found '1e-4', which YAML reads as text (write 1.0e-4 for 1e-4, no "
            "quotes), expected a number",
            "training.dropout: found true, expected a number",
            "cleaning.remove_test_overlap: found 'yes', expected true or false",
        ],
    ),
    "out of range": (
        {
            "seed": -1,
            "training": {"learning_rate": 0, "dropout": 1, "updates": 0},
            "vocabulary": {"size": 70000},
        },
        [],
        [
            "vocabulary.size: found 70000, expected at most 65536",
            "seed: found -1, expected at least 0",
            "training.learning_rate: found 0, expected more than 0",
            "training.dropout: found 1, expected less than 1",
            "training.updates: found 0, expected at least 1",
        ],
    ),
    "unknown choices": (
        {
            "corpora": {"grammar": {"importer": "sintetic", "pairs": 1, "use": "parallell"}},
            "training": {"precision": "float16"},
            "pruning": {"pushy": {"method": "lasso"}},
        },
        [],
        [
            "corpora.grammar.importer: found 'sintetic', expected one of files, hugging_face, mtdata, "
            "opus, sacrebleu, synthetic; did you mean 'synthetic'?",
            "pruning.pushy.method: found 'lasso', expected one of late-reset, one-shot, depth, "
            "group-lasso, movement, from-scratch; did you mean 'group-lasso'?",
            "training.precision: found 'float16', expected one of float32, bfloat16; "
            "did you mean 'bfloat16'?",
        ],
    ),
    "keys of another importer": (
        {
            "validation": [{"importer": "sacrebleu", "pairs": 3}, {"pairs": 3}],
            "test_sets": {"news": {"noise": 0.1}},
        },
        [],
        [
            "validation[0].pairs: unknown key, expected one of importer, name",
            "validation[0].name: missing, expected text",
            "validation[1].importer: missing, expected one of files, hugging_face, mtdata, opus, sacrebleu, "
            "synthetic",
            "test_sets.news.noise: unknown key, expected one of importer, source, target, table, columns, "
            "sha256, control_characters, local_dir",
        ],
    ),
    "names and patterns": (
        {
            "experiment": "a/b",
            "exports": {"onnx": [], "marain": ["*/*/*"]},
            "corpora": {"my corpus": {"importer": "synthetic", "pairs": 1}, 7: FILES},
            "languages": {"source": "English"},
            "variants": ["small/pushy"],
        },
        [],
        [
            "experiment: found 'a/b', expected a folder name of letters, digits and . _ -",
            "languages.source: found 'English', expected a language code of two or three small letters, "
            "such as en",
            "corpora.my corpus: found 'my corpus', expected a name of letters, digits and . _ -",
            "corpora.7: found 7, expected text",
            "exports.marain: unknown key, expected one of ctranslate2, marian, onnx; did you mean "
            "'marian'?",
            "exports.onnx: found nothing, expected at least 1",
            "variants[0]: found 'small/pushy', expected a pattern STUDENT/RECIPE/PRECISION",
        ],
    ),
    "empty and repeated": (
        {
            "students": ["small", "small"],
            "variants": [],
            "report": {"columns": {"wngt20": {"bleu_wmt19": []}}},
        },
        [],
        [
            "students: found 'small' twice, expected each once",
            "variants: found nothing, expected at least 1",
            "report.columns.wngt20.bleu_wmt19: found nothing, expected at least 1",
        ],
    ),
}

CONTRADICTIONS = {
    "exports": (
        {
            "students": ["small", "big", "odd"],
            "exports": {
                "ctranslate2": ["*/unpruned/int8", "big/pushy/float32"],
                "marian": ["odd/unpruned/float32", "small/pushy/int8"],
                "onnx": ["smal/*/*"],
            },
        },
        [],
        [
            "exports.ctranslate2[0]: found 'small/unpruned/int8', expected a student with a "
            "self-attention decoder; CTranslate2 has no SSRU",
            "exports.ctranslate2[0]: found 'odd/unpruned/int8', expected a student with a "
            "self-attention decoder; CTranslate2 has no SSRU",
            "exports.ctranslate2[1]: found 'big/pushy/float32', expected an unpruned student; "
            "CTranslate2 wants as many heads in every layer",
            "exports.marian[0]: found 'odd/unpruned/float32', expected heads that divide the embedding; "
            "Marian cannot hold heads of 3",
            "exports.onnx[0]: no student 'smal' in students; did you mean 'small'?",
        ],
    ),
    "unknown and unfit students": (
        {"students": ["smal", "small", "thin", "trio"], "teacher": {"architecture": "bigg"}},
        [],
        [
            "teacher.architecture: no model 'bigg' in config/models.yaml; did you mean 'big'?",
            "students[0]: no model 'smal' in config/models.yaml; did you mean 'small'?",
            "students[3]: found 'trio', an ensemble, expected a single model",
        ],
    ),
    "teacher of both kinds": (
        {"teacher": {"hugging_face": "models/opus"}},
        [],
        ["teacher: found both, expected one of architecture, hugging_face"],
    ),
    "keys of Hugging Face models alone": (
        {
            "teacher": {"language_codes": {"source": "eng_Latn"}},
            "scoring": {"reverse_model": {"architecture": "big", "revision": 40 * "a"}},
        },
        [],
        [
            "scoring.reverse_model.revision: found without hugging_face, expected it beside hugging_face alone",
            "teacher.language_codes: found without hugging_face, expected it beside hugging_face alone",
        ],
    ),
    "Hugging Face models that are misnamed": (
        {
            "teacher": {"hugging_face": "models/opus", "language_codes": {"sorce": "en"}},
            "reverse_teacher": {"hugging_face": "models/opus", "revision": "main"},
        },
        ["teacher.architecture"],
        [
            "teacher.language_codes.sorce: unknown key, expected one of source, target; did you mean 'source'?",
            "reverse_teacher.revision: found 'main', expected a commit of 40 hexadecimal digits",
        ],
    ),
    "a folder beside a commit, and a teacher that learns nothing": (
        {
            "teacher": {
                "hugging_face": "models/opus/en-de",
                "revision": 40 * "a",
                "back_translated": True,
            },
            "corpora": {
                "german": {"importer": "synthetic", "pairs": 9, "use": "monolingual-target"}
            },
            "reverse_teacher": {"hugging_face": "facebook/nllb", "members": 2},
        },
        ["teacher.architecture"],
        [
            "teacher.hugging_face: found 'models/opus/en-de' beside revision, expected OWNER/MODEL as on the hub",
            "teacher.back_translated: found true beside hugging_face, expected false: such a teacher is not trained",
            "reverse_teacher.members: found 2, expected 1, as hugging_face names one model",
        ],
    ),
    "teacher of no kind": (
        {},
        ["teacher.architecture"],
        ["teacher: found neither, expected one of architecture, hugging_face"],
    ),
    "ensemble of another size": (
        {"teacher": {"architecture": "trio", "members": 2}},
        [],
        [
            "teacher.members: found 2, expected 3, the models that 'trio' lists in config/models.yaml",
        ],
    ),
    "no vocabulary size": (
        {"students": ["small", "paper.8k"], "pruning": {}},
        ["vocabulary"],
        [
            "vocabulary.size: missing, expected a number of pieces, as the zoo gives none for small, big"
        ],
    ),
    "recipe and precision not configured": (
        {
            "variants": [
                "small/pushi/*",
                "tiny/unpruned/*",
                "thin*/x*/int9",
                "*/*/log4-finetuned",
                "*/*/*-finetuned",
            ]
        },
        [],
        [
            "variants[0]: no recipe 'pushi' in pruning; did you mean 'pushy'?",
            "variants[1]: no student 'tiny' in students; did you mean 'thin'?",
            "variants[2]: no recipe matches 'x*', expected one of unpruned, pushy",
            "variants[2]: no precision 'int9' in quantization; did you mean 'int8'?",
            "variants[3]: precision 'log4-finetuned' has no settings, expected the key "
            "quantization.log4.finetune",
        ],
    ),
    "precision without its grid": (
        {"variants": ["small/unpruned/int8"], "pruning": {}},
        ["quantization"],
        ["variants[0]: precision 'int8' has no settings, expected the key quantization.int8"],
    ),
    "the other activation scale": (
        {
            "variants": ["*/*/int8-mean-of-scales", "*/*/int8-mean-of-maxima", "*/*/int8_rowwise"],
            "pruning": {},
        },
        [],
        [
            "variants[0]: precision 'int8-mean-of-scales' has no settings, expected the key "
            "quantization.int8.compare_activation_scales",
            "variants[1]: precision 'int8-mean-of-maxima' is 'int8' here, as "
            "quantization.int8.activation_scale is 'mean-of-maxima'",
            "variants[2]: precision 'int8_rowwise' has no settings, expected the key "
            "quantization.int8_rowwise",
        ],
    ),
    "more heads than there are": (
        {
            "pruning": {
                "pushy": {"iterations": 4},
                **{
                    name: {"method": "late-reset", "heads_per_iteration": 1, "iterations": 1}
                    for name in ("unpruned", "beam-6")
                },
            }
        },
        [],
        [
            "pruning.unpruned: found a recipe of this name, expected another: it stands for the student "
            "as trained",
            "pruning.beam-6: found a recipe of this name, expected another: it stands for the student "
            "with this search",
            "pruning.pushy: found 2 heads x 4 iterations = 8, expected at most 4, the heads of 'thin' "
            "in encoder.*",
        ],
    ),
    "blocks that do not fit": (
        {
            "students": ["small"],
            "pruning": {
                "pushy": {"blocks": "*"},
                "none": {"method": "group-lasso", "blocks": "encoder.7.*"},
                "heads": {"method": "one-shot", "heads": 0.5, "blocks": "*.feed_forward"},
                "neurons": {"method": "movement", "blocks": "encoder.*.self_attention"},
            },
        },
        [],
        [
            "pruning.pushy.blocks: found '*' for criterion confidence, expected encoder blocks alone, as "
            "decoder.0.cross_attention is not observed",
            "pruning.none.blocks: found 'encoder.7.*', expected a pattern that matches attention or "
            "feed-forward blocks of 'small'",
            "pruning.heads.blocks: found '*.feed_forward', expected a pattern that matches attention "
            "blocks of 'small'",
            "pruning.neurons.blocks: found 'encoder.*.self_attention', expected a pattern that matches "
            "feed-forward blocks of 'small'",
        ],
    ),
    "shares that nothing can lose": (
        {
            "pruning": {
                "much": {"method": "one-shot", "heads": 1.5},
                "less": {"method": "movement", "neurons": -0.1, "reached_at": 0},
                "sparse": {"method": "group-lasso", "groups": "column", "strength": 0},
            }
        },
        [],
        [
            "pruning.much.heads: found 1.5, expected at most 1",
            "pruning.less.neurons: found -0.1, expected at least 0",
            "pruning.less.reached_at: found 0, expected more than 0",
            "pruning.sparse.groups: found 'column', expected one of rowcol, head",
            "pruning.sparse.strength: found 0, expected more than 0",
        ],
    ),
    "shares that come to nothing": (
        {
            "students": ["small"],
            "pruning": {
                "none": {"method": "one-shot"},
                "little": {"method": "movement", "heads": 0.2, "neurons": 0.05},
            },
        },
        [],
        [
            "pruning.none: found shares that come to no head and no neuron of 'small', expected more",
            "pruning.little: found shares that come to no head and no neuron of 'small', expected more",
        ],
    ),
    "a decoder that sees no source": (
        {
            "students": ["small"],
            "pruning": {
                "blind": {"method": "one-shot", "heads": 1.0, "blocks": "*"},
                "layers": {
                    "method": "one-shot",
                    "heads": 1.0,
                    "blocks": "decoder.*",
                    "ranking": "layer",
                },
                "pushy": {"iterations": 8, "blocks": "*", "criterion": "random"},
                "most": {"method": "late-reset", "heads_per_iteration": 7, "iterations": 2},
            },
            "variants": ["small/[!m]*/float32"],
        },
        [],
        [
            "pruning.pushy: found 2 heads x 8 iterations = 16, expected at most 14, which leave each "
            "cross-attention of 'small' a head: without any a decoder sees nothing of the source",
            "pruning.blind: found 16 heads, expected at most 14, which leave each cross-attention of "
            "'small' a head: without any a decoder sees nothing of the source",
            "pruning.layers: found 8 heads, expected at most 6, which leave each cross-attention of "
            "'small' a head: without any a decoder sees nothing of the source",
        ],
    ),
    "a criterion of heads for neurons": (
        {"pruning": {"one": {"method": "one-shot", "criterion": "confidence", "neurons": 0.5}}},
        [],
        [
            "pruning.one.criterion: found confidence with neurons, expected another: it scores heads, "
            "not neurons"
        ],
    ),
    "more layers than there are": (
        {
            "pruning": {
                "top": {"method": "depth", "layers": 2},
                "decoder": {"method": "depth", "layers": 3, "stack": "decoder"},
            },
            "variants": ["small/*/float32"],
        },
        [],
        [
            "pruning.top.layers: found 2, expected less than 2, the encoder's of 'small'",
            "pruning.decoder.layers: found 3, expected less than 2, the decoder's of 'small'",
        ],
    ),
    "shapes that no recipe makes": (
        {
            "pruning": {
                "one": {"method": "from-scratch", "like": "pushi"},
                "two": {"method": "from-scratch", "like": "one"},
                "three": {"method": "from-scratch", "like": "unpruned"},
                "four": {"method": "from-scratch"},
            },
        },
        [],
        ["pruning.four.like: missing, expected a name of letters, digits and . _ -"],
    ),
    "shapes that no recipe makes, all given": (
        {
            "pruning": {
                "one": {"method": "from-scratch", "like": "pushi"},
                "two": {"method": "from-scratch", "like": "one"},
                "three": {"method": "from-scratch", "like": "unpruned"},
            },
        },
        [],
        [
            "pruning.one.like: no recipe 'pushi' in pruning; did you mean 'pushy'?",
            "pruning.two.like: found 'one', which prunes nothing itself, expected a recipe that does",
            "pruning.three.like: no recipe 'unpruned' in pruning",
        ],
    ),
    "a shape that this student cannot have": (
        {
            "pruning": {
                "pushy": {"iterations": 4},
                "anew": {"method": "from-scratch", "like": "pushy"},
            },
            "variants": ["small/pushy/float32", "thin/anew/int8"],
        },
        [],
        [
            "pruning.pushy: found 2 heads x 4 iterations = 8, expected at most 4, the heads of 'thin' "
            "in encoder.*",
        ],
    ),
    "noise without pairs": (
        {
            "corpora": {
                "more": {"importer": "synthetic", "pairs": 9, "noise": 0.1, "use": "monolingual"}
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
    "reset after the end of training": (
        {
            "training": {"updates": 200},
            "pruning": {
                "lasso": {"method": "group-lasso", "reset_to": 100, "regularise_updates": 100},
                "movement": {"method": "movement", "reset_to": 150, "prune_updates": 60},
                "fits": {"method": "movement", "reset_to": 150, "prune_updates": 49},
            },
        },
        [],
        [
            "pruning.pushy.reset_to: found 25000, expected less than training.updates 200, which count "
            "from the start",
            "pruning.lasso.regularise_updates: found 100 after reset_to 100, expected together less than "
            "training.updates 200, whose last train what is left",
            "pruning.movement.prune_updates: found 60 after reset_to 150, expected together less than "
            "training.updates 200, whose last train what is left",
        ],
    ),
    "a test set that is training data": (
        {
            "corpora": {
                "news": {"importer": "synthetic", "pairs": 5, "seed": 7},
                "wmt": {"importer": "sacrebleu", "name": "wmt19"},
                "files": {"importer": "files", "source": "data//a.en", "target": "data/a.de"},
            },
            "test_sets": {
                "news": {"importer": "synthetic", "pairs": 9, "seed": 7},
                "wmt19": {"importer": "sacrebleu", "name": "wmt19"},
                "files": {"importer": "files", "source": "b.en", "target": "./data/x/../a.de"},
            },
            "validation": [{"importer": "files", "source": "c.en", "target": "data/a.de"}],
        },
        ["test_sets.news.source", "test_sets.news.target"],
        [
            "test_sets.news: found synthetic text of seed 7, which is training data too "
            "(corpora.news), expected other data",
            "test_sets.wmt19: found test set 'wmt19', which is training data too (corpora.wmt), "
            "expected other data",
            "test_sets.files: found 'data/a.de', which is training data too (corpora.files), "
            "expected other data",
            "validation[0]: found 'data/a.de', which is training data too (corpora.files), "
            "expected other data",
            "validation[0]: found 'data/a.de', which is a test set too (test_sets.files), expected other "
            "data (validation_may_overlap_tests: true permits it)",
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
            "data",
            "validation: found 'Europarl v8' of OPUS, which is training data too (corpora.one), expected "
            "other data",
        ],
    ),
    "addresses and archives": (
        {
            "corpora": {
                "plain": {"importer": "files", "source": "https://x.org/a", "target": "b"},
                "old": {**FILES, "source": "http://x.org/a", "sha256": {"source": A}},
                "summed": {**FILES, "sha256": {"table": A}},
                "packed": {**FILES, "source": "x.en.xz"},
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
            "corpora.summed.sha256.table: found a checksum, expected the key corpora.summed.table too",
            "corpora.packed.source: found 'x.en.xz', expected plain text, .gz or .zst",
            "corpora.fetched.table: found 'https://a.org/x.zip?raw=1', expected plain text, .gz or .zst",
            "cleaning.language_id.sha256: missing, expected the SHA-256 of what https://x.org/lid.bin holds",
        ],
    ),
    "languages": (
        {"languages": {"source": "en", "target": "en"}},
        [],
        ["languages.target: found 'en' as source too, expected two languages"],
    ),
    "languages that the importers lack": (
        {
            "languages": {"target": "xx"},
            "test_sets": {"wmt": {"importer": "sacrebleu", "name": "wmt99"}},
            "cleaning": {"language_id": {"model": "synthetic"}},
        },
        ["test_sets.news"],
        [
            "languages.target: no language 'xx' in goldcrest, expected a code of ISO 639-1",
            "corpora.grammar.importer: synthetic: found languages en to xx, expected en to de, "
            "the only ones it knows",
            "validation.importer: synthetic: found languages en to xx, expected en to de, "
            "the only ones it knows",
            "cleaning.language_id.model: synthetic: found languages en to xx, expected en to de, "
            "the only ones it knows",
            "test_sets.wmt.name: no test set 'wmt99' in sacreBLEU; did you mean 'wmt19'?",
        ],
    ),
    "nothing to train a teacher on": (
        {"corpora": {"grammar": {"use": "monolingual"}}},
        [],
        ["corpora: found none with use: parallel, expected at least one to train on"],
    ),
    "report": (
        {
            "report": {
                "columns": {"wngt20": {"bleu_wmt19": ["news", "nwes"]}},
                "rows": {"smal": {"wngt20": "paper.8k"}, "teacher": {"wngt20": "paper"}},
            }
        },
        [],
        [
            "report.columns.wngt20.bleu_wmt19[1]: no test set 'nwes' in test_sets; did you mean 'news'?",
            "report.rows.smal: no student 'smal' in students; did you mean 'small'?",
            "report.rows.teacher.wngt20: no row 'paper' in table 1 of wngt20; did you mean 'paper.8k'?",
        ],
    ),
    "scores": (
        {
            "corpora": {
                "stories": {
                    "importer": "synthetic",
                    "pairs": 10,
                    "use": "monolingual",
                    "cleaning": {
                        "language_id": {"min_probability": 0.5},
                        "scores": {"language_model_target": {"cut": {"percent": 3}}},
                    },
                    "distillation": {"scores": {"reverse_model": {"cut": {"best": 9}}}},
                },
            },
            "cleaning": {
                "scores": {
                    "reverse_model": {"cut": {"percent": 5, "best": 10}},
                    "language_model_target": {},
                }
            },
            "scoring": {"reverse_model": {"architecture": "smal"}},
        },
        [],
        [
            "cleaning.scores.reverse_model.cut: found percent and best, expected one of percent, best, "
            "threshold",
            "corpora.stories.cleaning.language_id: found, expected cleaning.language_id too, which names "
            "the model",
            "corpora.stories.cleaning.scores.language_model_target: found in a monolingual corpus, which "
            "has no target yet",
            "corpora.stories.distillation.scores.reverse_model: no score 'reverse_model' in "
            "distillation.scores",
            "scoring.reverse_model.architecture: no model 'smal' in config/models.yaml; did you mean 'small'?",
        ],
    ),
    "training texts": (
        {
            "corpora": {
                "stories": {
                    "importer": "synthetic",
                    "pairs": 9,
                    "use": "monolingual",
                    "back_translation": {"scores": {"language_model_source": {"cut": {}}}},
                }
            },
            "teacher": {"back_translated": True},
            "distillation": {
                "training_texts": {
                    "all": ["parallel", "forward", "backward"],
                    "parallel": ["parallel"],
                }
            },
            "students": ["small", "small@parallel", "small@paralel", "small@all", "thin@parallel"],
        },
        [],
        [
            "corpora.stories.back_translation: found, expected use: monolingual-target, which is "
            "translated back",
            "corpora.stories.back_translation.scores.language_model_source: no score "
            "'language_model_source' in back_translation.scores",
            "distillation.training_texts.all[2]: found backward, expected a corpus with use: "
            "monolingual-target",
            "teacher.back_translated: found true, expected a corpus with use: monolingual-target",
            "students[2]: no training text 'paralel' in distillation.training_texts; did you mean "
            "'parallel'?",
            "students[3]: found 'small@all', expected 'small': students without a text learn this",
            "students[4]: found 'thin@parallel', expected 'thin' too, which it is compared with",
        ],
    ),
    "text to translate back without a reverse teacher": (
        {
            "corpora": {
                "stories": {"importer": "synthetic", "pairs": 9, "use": "monolingual-target"}
            }
        },
        [],
        ["reverse_teacher: missing, expected the teacher that translates corpus 'stories' back"],
    ),
    "a reverse teacher that does not exist": (
        {"reverse_teacher": {"architecture": "bgi", "members": 2}},
        [],
        ["reverse_teacher.architecture: no model 'bgi' in config/models.yaml; did you mean 'big'?"],
    ),
    "a score without its model": (
        {"distillation": {"scores": {"reverse_model": {}}}},
        [],
        ["scoring.reverse_model: missing, expected the model of the score reverse_model"],
    ),
    "a score that does not exist": (
        {"cleaning": {"scores": {"revers_model": {}}}},
        [],
        [
            "cleaning.scores.revers_model: unknown key, expected one of bicleaner, language_model_source, "
            "language_model_target, lexical_translation, reverse_model, combined; did you mean 'reverse_model'?"
        ],
    ),
    "a bicleaner that is not there": (
        {"cleaning": {"scores": {"bicleaner": {}}}},
        [],
        ["scoring.bicleaner: missing, expected the model of the score bicleaner ({} trains one)"],
    ),
    "a bicleaner from nowhere": (
        {"scoring": {"bicleaner": {"model": "https://x.org/lite-en-de.zip"}}},
        [],
        [
            "scoring.bicleaner.sha256: missing, expected the SHA-256 of what https://x.org/lite-en-de.zip holds",
            "scoring.bicleaner.model: found 'https://x.org/lite-en-de.zip', expected an archive .tgz or .tar.gz",
        ],
    ),
    "a checksum of a folder": (
        {"scoring": {"bicleaner": {"model": "models/lite-en-de", "sha256": A}}},
        [],
        [
            "scoring.bicleaner.sha256: found a checksum, expected it beside an address in model alone"
        ],
    ),
    "two reverse models": (
        {"scoring": {"reverse_model": {"architecture": "small", "hugging_face": "x"}}},
        [],
        ["scoring.reverse_model: found both, expected one of architecture, hugging_face"],
    ),
    "everything at once": (
        {
            "sede": 1,
            "training": {"updates": 0},
            "students": ["smal"],
            "report": {"columns": {"wmt21": {"bleu_wmt20": ["x"]}}},
        },
        [],
        [
            "sede: unknown key, expected one of experiment, seed, languages, corpora, validation, "
            "validation_may_overlap_tests, test_sets, local_dir, download_cache, cleaning, "
            "back_translation, scoring, vocabulary, teacher, reverse_teacher, students, training, "
            "distillation, shortlist, pruning, quantization, variants, exports, "
            "evaluation, report, hardware; "
            "did you mean 'seed'?",
            "training.updates: found 0, expected at least 1",
            "students[0]: no model 'smal' in config/models.yaml; did you mean 'small'?",
            "report.columns.wmt21.bleu_wmt20[0]: no test set 'x' in test_sets",
        ],
    ),
}


@pytest.mark.parametrize(
    ("changes", "without", "expected"),
    [pytest.param(*case, id=name) for name, case in (SCHEMA | CONTRADICTIONS).items()],
)
def test_lines(experiment, zoo, changes, without, expected):
    with pytest.raises(ConfigurationError) as caught:
        check(experiment(changes, without), "trial.yaml", zoo)
    assert caught.value.errors == [f"trial.yaml: {line}" for line in expected]
    assert str(caught.value) == "\n".join(caught.value.errors)


def test_validation_may_overlap_tests(experiment, zoo):
    same = {
        "validation": [FILES],
        "test_sets": {"news": FILES},
        "validation_may_overlap_tests": True,
    }
    assert check(experiment(same), "trial.yaml", zoo)["validation_may_overlap_tests"]


def test_not_a_mapping(zoo):
    with pytest.raises(
        ConfigurationError, match="x: top level: found a list, expected keys with values"
    ):
        check([], "x", zoo)
