"""Mistakes that the schema finds, alone and together: the full error lines."""

import pytest

from tests.configuration.changes import each_case
from weebill.configuration.checking import check
from weebill.configuration.schema import ConfigurationError, at
from weebill.corpus.importers.entries import IMPORTERS
from weebill.pruning.methods import METHODS

PLACE = "a path or address, without braces, line ends, or ~ or $ in front"
ALL_IMPORTERS = ", ".join(IMPORTERS)
FILES = {"importer": "files", "source": "x.en", "target": "x.de"}

# name: (changes of a valid experiment, removed keys, expected lines)
CASES = {
    "unknown key": (
        {"training": {"updaets": 3}},
        [],
        [
            "training.updaets: unknown key, expected one of batch_tokens, updates, learning_rate, warmup, decay, "
            "validate_every, patience, checkpoint_every, smoothing, dropout, label_smoothing, accumulate, "
            "clip_norm, max_pieces, precision, cuda_graphs, guided_alignment, stages; did you mean 'updates'?"
        ],
    ),
    "a key with a blank of a web page": (
        {"languages": {"\u00a0source": "en"}},
        [],
        [
            r"languages.\xa0source: unknown key, expected one of source, target; did you mean 'source'?"
        ],
    ),
    "text that YAML reads as something else": (
        {"experiment": 1.10, "languages": {"source": False}},
        [],
        [
            "experiment: found 1.1, which YAML does not read as text (write '1.1' with the quotes), expected a "
            "folder name of at most 100 letters, digits and . _ -",
            "languages.source: found false, which YAML does not read as text (write 'no' with the quotes), expected "
            "a language code such as en, sr-Latn or pt-BR",
        ],
    ),
    "names for which file systems have no room": (
        {"corpora": {"x" * 65: {"importer": "tatoeba", "pairs": 5}}},
        [],
        [
            f"corpora.{'x' * 65}: found '{'x' * 65}', expected a name of at most 64 letters, digits and . _ -"
        ],
    ),
    "paths that a shell would replace, or Snakemake": (
        {
            "local_dir": "~/data",
            "mirror": "$HOME/mirror",
            "teacher": {"hugging_face": "~/teacher"},
            "cleaning": {"language_id": {"model": "{lid}.ftz"}},
            "scoring": {"bicleaner": {"model": "{language}"}},
        },
        ["teacher.architecture"],
        [
            f"{key}: found '{path}', expected {PLACE}"
            for key, path in (
                ("teacher.hugging_face", "~/teacher"),
                ("local_dir", "~/data"),
                ("mirror", "$HOME/mirror"),
                ("cleaning.language_id.model", "{lid}.ftz"),
                ("scoring.bicleaner.model", "{language}"),
            )
        ],
    ),
    "columns of labelled pairs that are one": (
        {
            "evaluation": {
                "labelled": {"table": "x.tsv", "columns": {"source": 0, "target": 1, "label": 1}}
            }
        },
        [],
        [
            "evaluation.labelled.columns: found {'source': 0, 'target': 1, 'label': 1}, expected another number for "
            "each"
        ],
    ),
    "more than any machine can do": (
        {
            "hardware": {"threads": 10**6, "devices": 10**23},
            "teacher": {"threads": 5000},
            "distillation": {"beam": 10**6, "shards": 10**9},
            "evaluation": {"student_beam": 5000},
        },
        [],
        [
            "teacher.threads: found 5000, expected at most 4096",
            "hardware.threads: found 1000000, expected at most 4096",
            "hardware.devices: found 100000000000000000000000, expected at most 4096",
            "distillation.beam: found 1000000, expected at most 4096",
            "distillation.shards: found 1000000000, expected at most 100000",
            "evaluation.student_beam: found 5000, expected at most 4096",
        ],
    ),
    "a training on several nodes": (
        {"hardware": {"nodes": 2}},
        [],
        ["hardware.nodes: found 2, expected 1: Snakemake starts a training on one node"],
    ),
    "int8 on a GPU": (
        {
            "evaluation": {"comet": {"model": "m", "precision": "int8"}},
            "hardware": {"accelerator": "gpu"},
        },
        [],
        [
            "evaluation.comet.precision: found int8, which processors compute, with hardware.accelerator gpu, "
            "expected bfloat16 or float32"
        ],
    ),
    "text and variants that a GPU cannot time": (
        {
            "evaluation": {
                "speed": {
                    "gpu_text": {"corpus": "tatoebb"},
                    "gpu_variants": ["*/unpruned/float32", "*/unpruned/int4"],
                }
            }
        },
        [],
        [
            "evaluation.speed.gpu_variants[1]: no precision 'int4' in quantization; did you mean 'int8'?",
            "evaluation.speed.gpu_text.corpus: no corpus 'tatoebb' in corpora with a source side; did you mean "
            "'tatoeba'?",
        ],
    ),
    "original languages that are not known": (
        {
            "test_sets": {
                "whole": {"importer": "sacrebleu", "name": "wmt16"},
                "part": {"importer": "sacrebleu", "name": "wmt17", "written_in": "source"},
                "other": {"importer": "tatoeba", "pairs": 5},
            },
            "evaluation": {"original_languages": ["whole", "part", "other", "hole"]},
        },
        [],
        [
            "evaluation.original_languages[1]: found 'part', expected a whole test set of importer sacrebleu, "
            "or one of files with `origlang`",
            "evaluation.original_languages[2]: found 'other', expected a whole test set of importer sacrebleu, "
            "or one of files with `origlang`",
            "evaluation.original_languages[3]: no test set 'hole' in test_sets; did you mean 'whole'?",
        ],
    ),
    "Bayes risk by a model that is not named": (
        {"evaluation": {"mbr": {"candidates": 8}}},
        [],
        [
            "evaluation.mbr.utility: found comet without evaluation.comet, expected its model there, or chrf or bleu"
        ],
    ),
    "Bayes risk with keys that do nothing": (
        {
            "evaluation": {
                "mbr": {"candidates": 8, "kept": 9, "by": "beam", "utility": "chrf", "epsilon": 0.1}
            }
        },
        [],
        [
            "evaluation.mbr.kept: found 9, expected at most mbr.candidates 8",
            "evaluation.mbr.epsilon: found 0.1 with by: beam, expected by: sampling",
        ],
    ),
    "samples of a Hugging Face teacher": (
        {"teacher": {"hugging_face": "folder"}, "evaluation": {"mbr": {"utility": "chrf"}}},
        ["teacher.architecture"],
        [
            "evaluation.mbr.by: found sampling from a Hugging Face teacher, expected by: beam; only Weebill's own "
            "models are sampled from",
        ],
    ),
    "missing keys": (
        {},
        ["experiment", "languages.target", "students", "validation"],
        [
            "experiment: missing, expected a folder name of at most 100 letters, digits and . _ -",
            "validation: missing, expected keys with values or a list",
            "students: missing, expected a list",
            "languages.target: missing, expected a language code such as en, sr-Latn or pt-BR",
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
            "languages": {"source": "en", "target": False},  # "no", Norwegian
        },
        [],
        [
            "languages.target: found false, which YAML does not read as text (write 'no' with the "
            "quotes), expected a language code such as en, sr-Latn or pt-BR",
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
    "no number": (
        {
            "seed": float("inf"),
            "training": {"learning_rate": float("nan")},
            "corpora": {"tatoeba": {"noise": {"share": float("inf")}}},
        },
        [],
        [
            "corpora.tatoeba.noise.share: found inf, expected a finite number",
            "seed: found inf, expected a finite number",
            "training.learning_rate: found nan, expected a finite number",
        ],
    ),
    "unknown choices": (
        {
            "corpora": {"tatoeba": {"importer": "tatoba", "pairs": 1, "use": "parallell"}},
            "training": {"precision": "float16"},
            "pruning": {"pushy": {"method": "lasso"}},
        },
        [],
        [
            f"corpora.tatoeba.importer: found 'tatoba', expected one of {ALL_IMPORTERS}; did you mean 'tatoeba'?",
            f"pruning.pushy.method: found 'lasso', expected one of {', '.join(METHODS)}; did you mean "
            "'group-lasso'?",
            "training.precision: found 'float16', expected one of auto, float32, bfloat16; "
            "did you mean 'bfloat16'?",
        ],
    ),
    "a choice that is no text": (
        {"validation": {"importer": ["files"]}},
        [],
        [
            f"validation.importer: found a list, expected one of {ALL_IMPORTERS}; did you mean 'files'?"
        ],
    ),
    "keys of another importer": (
        {
            "validation": [{"importer": "sacrebleu", "pairs": 3}, {"pairs": 3}],
            "test_sets": {"news": {"noise": 0.1}},
        },
        [],
        [
            "validation[0].pairs: unknown key, expected one of importer, name, written_in",
            "validation[0].name: missing, expected text",
            f"validation[1].importer: missing, expected one of {ALL_IMPORTERS}",
            "test_sets.news.noise: unknown key, expected one of importer, source, target, table, columns, "
            "sha256, origlang, control_characters, local_dir, lines",
        ],
    ),
    "line ends and braces": (
        {
            "experiment": "a\n",
            "corpora": {"c": {"importer": "files", "source": "a{b}.txt", "target": "a\nb"}},
        },
        [],
        [
            "experiment: found 'a\\n', expected a folder name of at most 100 letters, digits and . _ -",
            f"corpora.c.source: found 'a{{b}}.txt', expected {PLACE}",
            f"corpora.c.target: found 'a\\nb', expected {PLACE}",
        ],
    ),
    "names and patterns": (
        {
            "experiment": "a/b",
            "exports": {"onnx": [], "marain": ["*/*/*"]},
            "corpora": {"my corpus": {"importer": "tatoeba", "pairs": 1}, 7: FILES},
            "languages": {"source": "English"},
            "variants": ["small/pushy"],
        },
        [],
        [
            "experiment: found 'a/b', expected a folder name of at most 100 letters, digits and . _ -",
            "languages.source: found 'English', expected a language code such as en, sr-Latn or "
            "pt-BR",
            "corpora.my corpus: found 'my corpus', expected a name of at most 64 letters, digits and . _ -",
            "corpora.7: found 7, which YAML does not read as text (write '7' with the quotes), expected text",
            "exports.marain: unknown key, expected one of ctranslate2, marian, firefox, onnx; did you mean "
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
    "everything at once": (
        {
            "sede": 1,
            "training": {"updates": 0},
            "students": ["smal"],
            "report": {"columns": {"wmt21": {"bleu_wmt20": ["x"]}}},
        },
        [],
        [
            "sede: unknown key, expected one of rehearses, architectures, local_dir, download_cache, mirror, "
            "origins, kind, experiment, seed, languages, corpora, validation, validation_may_overlap_tests, "
            "test_sets, cleaning, back_translation, scoring, vocabulary, published, teacher, reverse_teacher, "
            "students, training, distillation, shortlist, pruning, quantization, variants, exports, "
            "bleu, evaluation, report, hardware; "
            "did you mean 'seed'?",
            "training.updates: found 0, expected at least 1",
            "students[0]: no model 'smal' in config/models.yaml; did you mean 'small'?",
            "report.columns.wmt21.bleu_wmt20[0]: no test set 'x' in test_sets",
        ],
    ),
}


@each_case(CASES)
def test_lines(faults, changes, without, expected):
    assert faults(changes, without) == expected


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"teacher": {"members": 10**12}}, "teacher.members: found 1000000000000, expected at most 100"),
        ({"distillation": {"shards": 1e308}}, "distillation.shards: found 1e+308, expected a whole number"),
        ({"training": {None: 7}}, "training.None: unknown key"),
        ({"origins": 5}, "origins: found 5, expected keys with values"),
    ],
)  # fmt: skip
def test_what_no_program_can_count_or_name(faults, changes, told):
    [line] = faults(changes, [])
    assert line.startswith(told)


def test_not_a_mapping(zoo):
    with pytest.raises(
        ConfigurationError, match="x: top level: found a list, expected keys with values"
    ):
        check([], "x", zoo)


def test_keys_at_a_pattern():
    config = {"a": {"x": [1, 2], "y": [3], "z": []}, "b": 4}
    assert list(at(config, "a.y|x.*", "b", "c", "b.*")) == [
        (("a", "y", 0), 3),
        (("a", "x", 0), 1),
        (("a", "x", 1), 2),
        (("b",), 4),
    ]


@pytest.mark.parametrize("kind", ["metrics", 3, ["metric"]])
def test_unknown_kind(experiment, kind):
    with pytest.raises(ConfigurationError, match=r"trial.yaml: kind: found .*, expected one of"):
        check(experiment({"kind": kind}), "trial.yaml")
