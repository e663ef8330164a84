"""Everything measured of a generation experiment, for its tables, figures and page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from weebill.evaluation.quality.generation_quality import GenerationQuality
from weebill.evaluation.size.generation_size import GenerationSize
from weebill.evaluation.timing.generation_speed import GenerationSpeed
from weebill.experiment.pipelines import model_of, task_of, variants, variants_of
from weebill.files import read_json


@dataclass(frozen=True)
class GenerationResults:
    """Everything measured of an experiment.  prunings: variant → what its movement pruning recorded.

    leads: the scores of what articles begin with, which are no model's.
    """

    config: Mapping[str, Any]
    qualities: Sequence[GenerationQuality]
    sizes: Sequence[GenerationSize]
    speeds: Sequence[GenerationSpeed]
    prunings: Mapping[str, Mapping[str, Any]]
    leads: Sequence[GenerationQuality] = ()

    @property
    def variants(self) -> list[str]:
        """All variants, in the order of the pipelines."""
        return variants(self.config)

    def variants_for(self, task: str) -> list[str]:
        """The variants of the models for a task."""
        return [name for name in self.variants if task_of(self.config, model_of(name)) == task]

    def leads_for(self, metrics: Collection[str]) -> list[GenerationQuality]:
        """The scores of leads by some metrics."""
        return [one for one in self.leads if one.metric in metrics]

    def quality(self, variant: str, metric: str) -> GenerationQuality | None:
        """A score of a variant, or of a lead."""
        rows = chain(self.qualities, self.leads)
        return next((one for one in rows if (one.variant, one.metric) == (variant, metric)), None)

    def size(self, variant: str) -> GenerationSize | None:
        """What a variant weighs."""
        return next((one for one in self.sizes if one.variant == variant), None)

    def speed(self, variant: str) -> GenerationSpeed | None:
        """How long a variant takes."""
        return next((one for one in self.speeds if one.variant == variant), None)

    def baseline(self, variant: str) -> str:
        """The first variant of the same model, which the others are compared with."""
        return variants_of(self.config, model_of(variant))[0]

    def comparable(self, variant: str, metric: str) -> bool:
        """Whether a variant's score compares with its baseline's: perplexity, per token, of one vocabulary alone."""
        if metric != "perplexity":
            return True
        one, other = map(self.methods, (variant, self.baseline(variant)))
        return ("prune-vocabulary" in one) == ("prune-vocabulary" in other)

    def methods(self, variant: str) -> list[str]:
        """The methods of a variant's steps, in order."""
        return [self.config["steps"][name]["method"] for name in variant.split("/")[1:]]


def read_results(config: Mapping[str, Any], files: Any, pruned: Sequence[str]) -> GenerationResults:
    """From the files of a rule's input: qualities, leads, sizes, speeds, prunings, each a list of paths.

    pruned: the variants that the prunings are of.
    """
    qualities, leads = (
        [GenerationQuality(**row) for path in paths for row in read_json(path)]
        for paths in (files.qualities, files.leads)
    )
    return GenerationResults(
        config,
        qualities,
        [GenerationSize(**read_json(path)) for path in files.sizes],
        [GenerationSpeed(**row) for path in files.speeds for row in read_json(path)],
        dict(zip(pruned, map(read_json, files.prunings), strict=True)),
        leads,
    )
