"""Mistakes in cleaning and scores of pairs: the full error lines."""

from tests.configuration.changes import each_case
from weebill.corpus.cleaning.filters import FILTERS

A = "a" * 64

# name: (changes of a valid experiment, removed keys, expected lines)
CASES = {
    "scores": (
        {
            "corpora": {
                "stories": {
                    "importer": "tatoeba",
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
    "thresholds out of their bounds": (
        {
            "cleaning": {
                "rules": {"max_length_ratio": 0.5, "min_letter_tokens": 2, "disabled": ["number"]},
                "language_id": {"model": "lid.bin", "min_probability": 2, "min_letters": -1},
            },
            "corpora": {
                "stories": {
                    "importer": "tatoeba",
                    "pairs": 10,
                    "noise": {"share": 2, "kinds": ["copy"]},
                }
            },
        },
        [],
        [
            "corpora.stories.noise.share: found 2, expected at most 1",
            "corpora.stories.noise.kinds[0]: found 'copy', expected one of misaligned, wrong_language, "
            "truncated, copied; did you mean 'copied'?",
            "cleaning.rules.max_length_ratio: found 0.5, expected at least 1",
            "cleaning.rules.min_letter_tokens: found 2, expected at most 1",
            f"cleaning.rules.disabled[0]: found 'number', expected one of {', '.join(FILTERS)}; did you mean "
            "'numbers'?",
            "cleaning.language_id.min_probability: found 2, expected at most 1",
            "cleaning.language_id.min_letters: found -1, expected at least 0",
        ],
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
}


@each_case(CASES)
def test_lines(faults, changes, without, expected):
    assert faults(changes, without) == expected
