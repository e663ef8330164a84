"""Mistakes in teachers and in options of the students' training, and refused combinations."""

from dataclasses import asdict

import pytest

from tests.configuration.changes import each_case, refused
from weebill.configuration.checking import check, estimate
from weebill.corpus.robustness import Augmentation

# name: (changes of a valid experiment, removed keys, expected lines)
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
    "size of a source vocabulary that is not made": (
        {"vocabulary": {"source_size": 300}},
        [],
        ["vocabulary.source_size: found 300, expected it beside joint: false alone"],
    ),
    "no room for bytes": (
        {"vocabulary": {"size": 355}},
        [],
        [
            "vocabulary.size: found 355, expected at least 356, of which 256 stand for bytes; or set "
            "vocabulary.byte_fallback to false",
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


@each_case(CASES)
def test_lines(faults, changes, without, expected):
    assert faults(changes, without) == expected


def test_augmentation_is_off_by_default(experiment, zoo):
    assert "augmentation" not in check(experiment(), "trial.yaml", zoo)["distillation"]
    config = experiment({"distillation": {"augmentation": {"typos": 0.1}}})
    checked = check(config, "trial.yaml", zoo)["distillation"]["augmentation"]
    assert checked == {**asdict(Augmentation()), "typos": 0.1}


def test_augmentation_adds_something_that_the_languages_have(experiment, zoo):
    config = experiment({"distillation": {"augmentation": {"max_merged_words": 50}}})
    assert refused(config, zoo) == [
        "distillation.augmentation: found no share above 0, expected one of "
        "upper_case, title_case, typos, merged, placeholders"
    ]
    news = {"importer": "files", "source": "news.en", "target": "news.ja"}
    config = experiment(
        {
            "languages": {"target": "ja"},
            "corpora": {"tatoeba": {**news, "source": "a.en", "target": "a.ja"}},
            "validation": {**news, "source": "b.en", "target": "b.ja"},
            "test_sets": {"news": news},
            "distillation": {"augmentation": {"upper_case": 0.1, "typos": 0.1}},
        },
        ["corpora.tatoeba.pairs", "validation.pairs"],
    )
    config["corpora"]["tatoeba"].pop("pairs", None)
    assert refused(config, zoo) == [
        "distillation.augmentation.upper_case: found 0.1, expected 0, as the target "
        "language 'ja' has no case"
    ]


def test_added_rows_take_disk(experiment, zoo):
    plain = estimate(check(experiment(), "trial.yaml", zoo), zoo)
    shares = {"typos": 0.5, "merged": 0.25}
    config = experiment({"distillation": {"augmentation": shares}})
    more = estimate(check(config, "trial.yaml", zoo), zoo)
    # The teacher's text without added rows takes half of the plain text.
    assert more.disk["text in trainings"] == pytest.approx(1.5 * plain.disk["text in trainings"])
    assert more.disk["distilled text"] > plain.disk["distilled text"]


def test_stages_that_never_come_or_teach_nothing(experiment, zoo):
    stages = [{"copies": {"tatoba": 2}}, {"updates": 9, "copies": {"tatoeba": 0}}]
    short = {"updates": 100, "warmup": 10, "validate_every": 10}
    reverse = {"architecture": "big", "training": {"stages": [{}]}}
    changes = {
        "training": {**short, "stages": stages},
        "teacher": {"training": {"stages": [{"augmented": False}]}},
        "reverse_teacher": reverse,
        "cleaning": {"scores": {"reverse_model": {}}},
        "pruning": {"pushy": {"reset_to": 50}},
    }
    assert refused(experiment(changes), zoo) == [
        "training.stages[0].updates: missing, expected a whole number: the last stage "
        "alone lasts to the end",
        "training.stages[0].copies.tatoba: no corpus 'tatoba' in corpora; did you mean 'tatoeba'?",
        "training.stages[1].updates: found 9, expected none: the last stage lasts to the end",
        "training.stages[1].copies: leaves no text to train on, expected some copies",
        "teacher.training.stages[0].augmented: found false, expected text of students "
        "with distillation.augmentation",
        "reverse_teacher.training.stages: found stages, expected none: reversed text "
        "does not tell its corpora apart",
    ]
    late = {"training": {**short, "stages": [{"updates": 100}, {}]}, "pruning": {}}
    late["pruning"] = {"pushy": {"reset_to": 50}}
    assert refused(experiment(late), zoo) == [
        "training.stages: found 100 updates before the last, expected less than "
        "training.updates 100"
    ]


def test_text_that_the_teacher_cuts_is_not_learnt_from_in_full(experiment, zoo):
    told = "expected at most distillation.max_source_tokens 100: translations of longer text lack its end"
    changes = {"distillation": {"max_source_tokens": 100}}
    assert refused(experiment(changes), zoo) == [f"training.max_pieces: found 200, {told}"]
    changes |= {"training": {"max_pieces": 100}}
    assert check(experiment(changes), "trial.yaml", zoo)


def test_a_stage_may_leave_a_text_nothing_that_no_student_learns(experiment, zoo):
    stories = {"importer": "tatoeba", "pairs": 10, "use": "monolingual"}
    texts = {"all": ["parallel", "forward"], "parallel": ["parallel"]}
    changes = {
        "corpora": {"stories": stories},
        "distillation": {"training_texts": texts},
        "training": {"stages": [{"updates": 7}, {"copies": {"tatoeba": 0}}]},
    }
    checked = check(experiment(changes), "trial.yaml", zoo)
    assert checked["training"]["stages"][0] == {"updates": 7, "copies": {}, "augmented": True}
    changes["students"] = ["small", "small@parallel"]
    assert [line.split(": ")[0] for line in refused(experiment(changes), zoo)] == [
        "training.stages[1].copies"
    ]


def test_published_students_replace_teachers_and_first_weights(experiment, zoo):
    changes = {
        "published": {"folder": "models/ende", "files": {"http://a.org/model": 64 * "a"}},
        "teacher": {"published": True, "members": 2},
        "pruning": {"pushy": {"reset_to": 50}, "narrow": {"method": "even", "reset_to": 0}},
        "evaluation": {"cleaning": {"student": "small"}},
    }
    assert refused(experiment(changes), zoo) == [
        "published: found both, expected one of folder, files",
        "published.files.http://a.org/model: found 'http://a.org/model', expected a local path or an address "
        "https://…",
        "training.guided_alignment: found 0.0, expected more, such as 0.1: Firefox places tags by the attention that "
        "it guides",
        "evaluation.cleaning: found a student, expected none beside published: it measures students trained from "
        "first weights",
        "teacher.published: found true beside another origin, expected one",
        "teacher.members: found 2, expected 1, as published names one model",
        "pruning.pushy.reset_to: found 50, expected 0: it starts from the published student",
        "pruning.narrow: removes nothing, expected encoder_layers, decoder_layers or neurons",
    ]
    changes = {"teacher": {"published": True}, "pruning": {"pushy": {"reset_to": 0}}}
    assert refused(experiment(changes, ["teacher.architecture"]), zoo) == [
        "teacher.published: found true, expected the section published beside it",
        "pruning.pushy.reset_to: found 0, expected at least 1",
    ]


def test_alignments_guide_students_alone(experiment, zoo):
    guided = {"guided_alignment": 0.1}
    changes = {
        "training": guided,
        "teacher": {"training": guided},
    }
    assert refused(experiment(changes), zoo) == [
        "teacher.training.guided_alignment: found 0.1, expected 0: alignments guide students alone"
    ]
