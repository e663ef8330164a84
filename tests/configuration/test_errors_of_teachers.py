"""Mistakes about teachers, and about the text that they translate: the lines that the user reads, in full."""

import pytest

# name: (changes to a valid experiment, keys taken away, expected lines)
CASES = {
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
            "corpora": {"german": {"importer": "tatoeba", "pairs": 9, "use": "monolingual-target"}},
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
    "nothing to train a teacher on": (
        {"corpora": {"tatoeba": {"use": "monolingual"}}},
        [],
        ["corpora: found none with use: parallel, expected at least one to train on"],
    ),
    "training texts": (
        {
            "corpora": {
                "stories": {
                    "importer": "tatoeba",
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
        {"corpora": {"stories": {"importer": "tatoeba", "pairs": 9, "use": "monolingual-target"}}},
        [],
        ["reverse_teacher: missing, expected the teacher that translates corpus 'stories' back"],
    ),
    "a reverse teacher without work": (
        {
            "reverse_teacher": {"architecture": "big"},
            "scoring": {"reverse_model": {"architecture": "big"}},
            "distillation": {"scores": {"reverse_model": {}}},
        },
        [],
        [
            "reverse_teacher: found without work, expected a corpus with use: monolingual-target, or the score "
            "reverse_model without a model of its own"
        ],
    ),
    "a reverse teacher that does not exist": (
        {
            "reverse_teacher": {"architecture": "bgi", "members": 2},
            "cleaning": {"scores": {"reverse_model": {}}},
        },
        [],
        ["reverse_teacher.architecture: no model 'bgi' in config/models.yaml; did you mean 'big'?"],
    ),
}


@pytest.mark.parametrize(
    ("changes", "without", "expected"),
    [pytest.param(*case, id=name) for name, case in CASES.items()],
)
def test_lines(faults, changes, without, expected):
    assert faults(changes, without) == expected
