"""Model folders of pruned students, and of the checkpoints from which they start."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weebill.files import remove_folder, write_json
from weebill.model_lineage import lineage
from weebill.pruning.method import Method
from weebill.replaceable import check_replaceable
from weebill.translation.model.folder import KIND, load_model, model_hash, save_model
from weebill.translation.training.pruning_study import TranslationStudy, unwatched
from weebill.translation.training.settings import Hardware, TrainingConfig
from weebill.translation.training.train_from_scratch import make_model


def make_checkpoint(
    output: Path,
    entry: Mapping[str, Any],
    vocabulary: Path,
    corpora: Sequence[Path],
    validation: Path,
    config: TrainingConfig,
    updates: int,
    *,
    seed: int,
    hardware: Hardware,
) -> None:
    """Train the student of a zoo entry for its first `updates` updates, and write its plain weights.

    Its first weights and its batches are those of the unpruned student.  Unfinished training is kept in `OUTPUT.work`
    and continued by the next call.  Raises InputError as `trainer.train` does.
    """
    make_model(
        output,
        "reset-checkpoint",
        entry,
        vocabulary,
        corpora,
        validation,
        unwatched(config, updates),
        seed=seed,
        hardware=hardware,
        keep="last",
    )


def make_pruned(
    output: Path, history: Path, recipe: str, method: Method, study: TranslationStudy
) -> None:
    """Prune a study's student by a method; write the model folder `output` and the pruning's record `history`.

    Unfinished work is kept in `OUTPUT.work` and continued by the next call.  Raises InputError if the method does not
    fit the student, and as `trainer.train` does.
    """
    check_replaceable(output, KIND)
    work = output.with_name(output.name + ".work")
    study = replace(study, encoded=work / "encoded")
    pruned = method.prune(study, work)
    made = lineage(
        "pruned",
        study.config,
        study.seed,
        pruned.course,
        parent=model_hash(study.start),
        pruning={"recipe": recipe, **pruned.history["settings"]},
    )
    write_json(history, pruned.history)
    save_model(output, pruned.model, load_model(study.start).vocabulary, made)
    remove_folder(work)
