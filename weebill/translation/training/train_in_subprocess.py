"""Training in a separate process.

For a training on several devices, Lightning starts the command of the present process again for each device, so a
process can run only one such training.  Pruning trains many times in one job.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weebill.errors import InputError, explain
from weebill.files import read_json, write_json, write_text
from weebill.pruning.companion_registry import companion_from_dict, companion_to_dict
from weebill.pruning.study import CompanionSettings
from weebill.translation.model.folder import load_model, save_model
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.training.trainer import Hardware, Training, TrainingConfig, train
from weebill.workflow.parent_watch import end_with_parent

# In the work folder: message of a failed training, for the process that started it.
FAULT = "fault.txt"


def train_separately(
    network: Translator,
    corpora: Sequence[Path],
    validation: Path,
    vocabulary: Vocabulary,
    config: TrainingConfig,
    *,
    work: Path,
    hardware: Hardware,
    encoded: Path | None = None,
    companion: CompanionSettings | None = None,
    **options: Any,
) -> Training:
    """Run `trainer.train` with its plain `options` in a separate process.

    Raises InputError for errors of the input or the disk there.  Raises subprocess.CalledProcessError if the training
    fails otherwise; its error is on stderr.
    """
    order = {
        "corpora": [str(corpus) for corpus in corpora],
        "validation": str(validation),
        "config": asdict(config),
        "hardware": asdict(hardware),
        "encoded": encoded and str(encoded),
        "companion": companion and companion_to_dict(companion),
        "options": options,
    }
    save_model(work / "before", network, vocabulary, {"kind": "unfinished"})
    write_json(work / "order.json", order)
    fault = work / FAULT
    fault.unlink(missing_ok=True)
    training = subprocess.run([sys.executable, "-m", __name__, str(work)])
    if fault.exists():
        raise InputError(fault.read_text(encoding="utf-8"))
    training.check_returncode()
    after = load_model(work / "after")
    network.load_state_dict(after.network.state_dict())
    network.eval()
    course = after.config["lineage"]["course"]
    return Training(course["updates"], course["history"])


def _main(work: Path) -> None:
    """Run the training that `order.json` in `work` describes."""
    order = read_json(work / "order.json")
    config = TrainingConfig(**order["config"])
    before = load_model(work / "before", config.dropout)
    training = train(
        before.network,
        [Path(corpus) for corpus in order["corpora"]],
        Path(order["validation"]),
        before.vocabulary,
        config,
        work=work / "training",
        hardware=Hardware(**order["hardware"]),
        encoded=order["encoded"] and Path(order["encoded"]),
        companion=order["companion"] and companion_from_dict(order["companion"]),
        **order["options"],
    )
    lineage = {"kind": "unfinished", "course": training.to_dict()}
    save_model(work / "after", before.network, before.vocabulary, lineage)


if __name__ == "__main__":
    end_with_parent()
    place = Path(sys.argv[1])
    try:
        _main(place)
    except Exception as error:
        line = explain(error)
        if line is None:
            raise
        write_text(place / FAULT, line)
        sys.exit(1)
