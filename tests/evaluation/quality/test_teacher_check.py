"""Teachers that hardly translate are refused before they translate the students' text."""

from dataclasses import asdict

import pyarrow as pa
import pytest
from sacrebleu.metrics import BLEU

from tests.small_models import TEXT, make_folder, make_network, make_vocabulary
from weebill.corpus.table import write_table
from weebill.errors import InputError
from weebill.evaluation.quality import teacher_check
from weebill.evaluation.quality.teacher_check import check_teachers, recorded_bleu
from weebill.rehearsal.making.translators import SENTENCES, make_marian
from weebill.translation.loading import load_translator
from weebill.translation.model.folder import save_model
from weebill_runtime.options import SearchOptions

SETTINGS = {"languages": ("en", "de"), "target": "de"}


def trained(folder, bleu):
    """Write a model with a recorded BLEU of its training, or without a validation."""
    vocabulary = make_vocabulary(folder.with_suffix(".spm"))
    best = None if bleu is None else {"update": 10, "bleu": bleu}
    course = {"updates": 20, "history": [], "best": best}
    save_model(folder, make_network(len(vocabulary)), vocabulary, {"course": course})
    return folder


def table(path, sources, targets):
    write_table(path, pa.table({"source": sources, "target": targets}))
    return path


def test_a_training_tells_its_bleu(tmp_path):
    """The validation set is missing, because it is not read; every poor member is named."""
    members = [trained(tmp_path / f"member-{n}", bleu) for n, bleu in enumerate((0.3, 20.0, 0.0))]
    assert [recorded_bleu(folder) for folder in members] == [0.3, 20.0, 0.0]
    with pytest.raises(InputError) as refusal:
        check_teachers(members, tmp_path / "none", 1.0, **SETTINGS)
    lines = str(refusal.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [str(members[0]), str(members[2])]
    assert "validation BLEU 0.30, under 1: " in lines[0]
    assert lines[0].endswith("or set distillation.min_teacher_bleu: 0 to go on")
    [one] = check_teachers(members[1:2], tmp_path / "none", 20.0, **SETTINGS)
    assert asdict(one) == {"folder": str(members[1]), "bleu": 20.0, "sentences": None}


def test_zero_goes_on_and_measures_nothing(tmp_path):
    assert (
        check_teachers([trained(tmp_path / "poor", 0.0)], tmp_path / "none", 0.0, **SETTINGS) == []
    )


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_teacher_of_unknown_bleu_translates_the_first_sentences(tmp_path, monkeypatch, side):
    """A Hugging Face model, and a model without a recorded validation, translate sentences of their source side."""
    monkeypatch.setattr(teacher_check, "SENTENCES", 3)
    make_marian(tmp_path / "marian")
    unknown = trained(tmp_path / "unknown", None)
    for folder, text in ((tmp_path / "marian", SENTENCES * 2), (unknown, TEXT)):
        assert recorded_bleu(folder) is None
        said = load_translator(folder, languages=("en", "de")).translate(text, SearchOptions())
        wanted = [*said[:2], "another", *["something else"] * (len(text) - 3)]
        sides = (text, wanted) if side == "source" else (wanted, text)
        validation = table(tmp_path / f"{folder.name}.parquet", *sides)
        expected = BLEU().corpus_score(said[:3], [wanted[:3]]).score
        told = rf"validation BLEU {expected:.2f} of 3 sentences, under 100: "
        with pytest.raises(InputError, match=told):
            check_teachers([folder], validation, 100.0, **SETTINGS, side=side)
    [one] = check_teachers([unknown], validation, expected, **SETTINGS, side=side)
    assert (one.bleu, one.sentences) == (expected, 3) and expected > 1


def test_other_models_have_no_recorded_bleu(tmp_path):
    make_folder(tmp_path / "plain", make_vocabulary(tmp_path / "v.spm"))
    assert recorded_bleu(tmp_path / "plain") is None
