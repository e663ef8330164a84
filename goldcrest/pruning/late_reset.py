"""Prune heads by confidence in training, with late resetting (WNGT20 §4, after Frankle et al. 2019).

Train for a while to a checkpoint C.  Then again and again: train on, remove the least confident
heads, put what remains back to C.  At last train what remains to convergence.
"""

import logging
import shutil
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import torch

from goldcrest.code_version import code_version
from goldcrest.errors import InputError
from goldcrest.files import claim_folder, exclusive_folder, read_json, write_json
from goldcrest.pruning.confidence import ConfidenceAccumulator, least_confident
from goldcrest.pruning.cut import cut
from goldcrest.pruning.structure import AttentionBlock, Prunable
from goldcrest.pruning.study import Pruned, Study

Heads = dict[str, list[int]]  # block name -> heads, by the numbers they have in C, ascending


@dataclass(frozen=True)
class LateReset:
    """The schedule: 3 heads an iteration are the paper's Steady, 6 its Pushy."""

    heads_per_iteration: int = 3
    iterations: int = 12  # 36 of the 48 encoder heads of Tiny
    reset_to: int = 25_000  # updates behind C
    iteration_updates: int = 15_000
    blocks: str = "encoder.*"  # pattern of the names of the attention blocks that lose heads

    def prune(self, study: Study, work: Path) -> Pruned:
        """The student without its least confident heads, trained to convergence.

        Its history says which heads went in which iteration, at what confidence, and which are left.
        work: holds finished iterations and unfinished training, so that a run killed anywhere goes on
        to the same result.  It is emptied first where it was begun by another schedule, study or code.
        Raises InputError where the student has fewer heads than the schedule removes.
        """
        with exclusive_folder(work):
            begun_by = {
                "schedule": asdict(self),
                "study": study.identity(),
                "code": code_version("pruning"),
                "torch": torch.__version__,
            }
            claim_folder(work, "begun_by.json", begun_by)
            survivors = self._heads(study.checkpoint(self.reset_to))
            iterations = []
            for number in range(1, self.iterations + 1):
                iteration = self._iterate(study, survivors, work / f"iteration-{number:02d}")
                for head in iteration["removed"]:
                    survivors[head["block"]].remove(head["head"])
                iterations.append({"iteration": number, **iteration})
                logging.info("iteration %d: %s heads left", number, count_heads(survivors))
            model = self._reset(study, survivors)
            course = study.train(
                model, start_update=self.reset_to, updates=None, work=work / "final"
            )
        history = {"settings": asdict(self), "iterations": iterations, "survivors": survivors}
        return Pruned(model, history, course)

    def _iterate(self, study: Study, survivors: Heads, work: Path) -> dict[str, Any]:
        """Train the survivors from C, and choose the heads to go: {removed, confidence}."""
        outcome = work / "heads.json"
        if not outcome.is_file():
            model = self._reset(study, survivors)
            study.train(
                model,
                start_update=self.reset_to,
                updates=self.iteration_updates,
                work=work / "training",
            )
            present = self._confidence(study, model)
            # the heads of a cut block are its survivors in order, so their numbers in C can be told
            confidence = {
                name: dict(zip(survivors[name], values, strict=True))
                for name, values in present.items()
            }
            removed = [
                {"block": name, "head": survivors[name][head], "confidence": present[name][head]}
                for name, head in least_confident(present, self.heads_per_iteration)
            ]
            write_json(outcome, {"removed": removed, "confidence": confidence})
        shutil.rmtree(work / "training", ignore_errors=True)
        return read_json(outcome)

    def _reset(self, study: Study, survivors: Heads) -> Prunable:
        """C without the heads that went."""
        model = study.checkpoint(self.reset_to)
        removed = {
            block.name: set(range(block.heads)) - set(survivors[block.name])
            for block in self._blocks(model)
        }
        cut(model, heads=removed)
        return model

    def _confidence(self, study: Study, model: Prunable) -> dict[str, list[float]]:
        accumulator = ConfidenceAccumulator(self._blocks(model))
        with accumulator.recording():
            study.observe(model)
        return accumulator.result()

    def _heads(self, model: Prunable) -> Heads:
        """All heads that may go."""
        heads = {block.name: list(range(block.heads)) for block in self._blocks(model)}
        asked, found = self.heads_per_iteration * self.iterations, count_heads(heads)
        if asked > found:
            raise InputError(
                f"pruning: {self.iterations} iterations of {self.heads_per_iteration} heads remove "
                f"{asked}, but the student has {found} in blocks '{self.blocks}'; remove fewer"
            )
        return heads

    def _blocks(self, model: Prunable) -> list[AttentionBlock]:
        return [block for block in model.attention_blocks() if fnmatchcase(block.name, self.blocks)]


def count_heads(heads: Heads) -> int:
    """How many heads these are."""
    return sum(len(of_block) for of_block in heads.values())
