"""Opponent unbabel-comet, in an environment of its own because it pins other packages."""

import json
from collections.abc import Sequence
from pathlib import Path

from weebill.benchmarks.opponent import Opponent

# Program of the opponent: predicts the scores of the first `count` systems.
PREDICT = """
import torch
torch.set_num_threads(1)
from comet import load_from_checkpoint
checkpoint, samples = arguments
model = load_from_checkpoint(checkpoint, local_files_only=True)
model.set_embedding_cache()
with open(samples, encoding="utf-8") as file:
    systems = json.load(file)
def work(count):
    model.retrieve_sentence_embedding.cache_clear()
    return [model.predict(one, gpus=0, progress_bar=False).scores for one in systems[:count]]
"""


class Comet(Opponent):
    """Process of unbabel-comet with a checkpoint and some systems."""

    def __init__(
        self,
        python: Path,
        checkpoint: Path,
        sources: Sequence[str],
        references: Sequence[str] | None,
        systems: Sequence[Sequence[str]],
        folder: Path,
    ) -> None:
        """Start unbabel-comet.  python: that of its environment.  folder: for its files.

        Raises InputError if this Python cannot run unbabel-comet.
        """
        samples = folder / "samples.json"
        content = [
            [
                {"src": source, "mt": translation}
                for source, translation in zip(sources, lines, strict=True)
            ]
            for lines in systems
        ]
        if references is not None:
            for system in content:
                for sample, reference in zip(system, references, strict=True):
                    sample["ref"] = reference
        samples.write_text(json.dumps(content), encoding="utf-8")
        names = {"option": "--comet", "environment": "comet"}
        super().__init__(python, PREDICT, checkpoint, samples, folder=folder, **names)
