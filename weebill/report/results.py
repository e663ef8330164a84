"""Everything measured in an experiment, looked up by variant."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from weebill.evaluation.measurement import Measurement, Variant, read_measurements
from weebill.evaluation.quality.comparison import Comparison, read_comparisons
from weebill.evaluation.size.translation_size import Size, read_sizes
from weebill.evaluation.timing.latency import Latency, read_latencies
from weebill.evaluation.timing.speed import Speed, read_speeds
from weebill.report import papers

TEACHER = "teacher"
METRICS = {"bleu": "BLEU", "comet": "COMET"}  # by the beginning of a column's name


class Results:
    """Quality, sizes and, where given, speeds of an experiment's variants, and what they stand beside."""

    def __init__(
        self,
        config: Mapping[str, Any],
        measurements: Iterable[Measurement],
        sizes: Iterable[Size],
        speeds: Iterable[Speed] = (),
        latencies: Iterable[Latency] = (),
        comparisons: Iterable[Comparison] = (),
    ):
        """config: of the configuration at least `experiment`, `test_sets`, `pruning` and `report`."""
        self.config = config
        self.measurements = list(measurements)
        self.sizes = {size.variant: size for size in sizes}
        self.speeds, self.latencies = list(speeds), list(latencies)
        self.comparisons = list(comparisons)
        self.variants = [Variant.parse(name) for name in self.sizes]
        self._scores = {(m.variant, m.test_set, m.metric): m for m in self.measurements}

    @classmethod
    def read(
        cls,
        config: Mapping[str, Any],
        quality: Sequence[str | Path],
        size: Sequence[str | Path],
        speed: str | Path | None = None,
        latency: str | Path | None = None,
        comparisons: Sequence[str | Path] = (),
    ) -> "Results":
        """From the files that the workflow's measurements were written to."""
        speeds = read_speeds(speed) if speed else []
        latencies = read_latencies(latency) if latency else []
        return cls(
            config,
            read_measurements(quality),
            read_sizes(size),
            speeds,
            latencies,
            read_comparisons(comparisons),
        )

    @property
    def test_sets(self) -> list[str]:
        """Names of the test sets, in the configuration's order."""
        return list(self.config["test_sets"])

    @property
    def teacher(self) -> Variant | None:
        """The teacher in its own search, the beam; where that is 1, greedily."""
        own = (v for v in self.variants if v.student == TEACHER)
        found = [v for v in own if not v.recipe.startswith("mbr-")]
        return next((v for v in found if v.recipe != "greedy"), found[0] if found else None)

    def students(self) -> list[Variant]:
        """The students' models, each once: teachers and further searches are left out."""
        return [v for v in self.variants if v.student != TEACHER and not v.is_search]

    def searches(self, student: str) -> list[Variant]:
        """A student's unpruned model in further searches than the greedy one."""
        return [v for v in self.variants if v.student == student and v.is_search]

    def row_of(self, variant: Variant, paper: str) -> str | None:
        """The row of the paper's table 1 that a variant's student stands beside, None where none."""
        named = self.config["report"]["rows"].get(variant.student, {}).get(paper)
        if named:
            return named
        printed = list(papers.load_table(paper, 1)["model"])
        if variant.student == TEACHER:
            return next(row for row in printed if row.startswith(TEACHER))
        return variant.student if variant.student in printed else None

    def measurement(self, variant: Variant, test_set: str, metric: str) -> Measurement | None:
        """One score with its interval, None where it was not measured."""
        return self._scores.get((str(variant), test_set, metric))

    def column(self, variant: Variant, paper: str, column: str) -> float | None:
        """BLEU or COMET in a paper's column: the mean over the test sets that `report.columns` names.

        COMET's are those of the column of BLEU.
        """
        metric, test_set = column.split("_", 1)
        names = self.config["report"]["columns"].get(paper, {}).get(f"bleu_{test_set}")
        if not names:
            return None
        found = [self.measurement(variant, name, METRICS[metric]) for name in names]
        if any(row is None for row in found):
            return None
        return sum(row.score for row in found) / len(found)

    def mean(self, variant: Variant) -> float | None:
        """The mean BLEU over all test sets."""
        found = [self.measurement(variant, name, "BLEU") for name in self.test_sets]
        return None if None in found else sum(row.score for row in found) / len(found)

    def size(self, variant: Variant) -> Size | None:
        """What a variant weighs."""
        return self.sizes.get(str(variant))

    def engines(self, variant: Variant) -> list[str]:
        """What a variant was timed by: first the runtime as it is scored, without a shortlist; PyTorch last."""
        rows = [row for row in self.speeds if row.variant == str(variant)]
        rows.sort(key=lambda row: (not row.by_runtime, "shortlist" in row.engine))
        return list(dict.fromkeys(row.engine for row in rows))

    def speed(
        self, variant: Variant, all_cores: bool = False, engine: str | None = None
    ) -> Speed | None:
        """A variant's speed on one core, or on all in the fastest way to share them out.

        engine: one of `engines`; without, the first, so that students are the runtime's where they can be.
        """
        chosen = engine or next(iter(self.engines(variant)), None)
        cores = max((row.cores for row in self.speeds), default=1) if all_cores else 1
        rows = [
            row
            for row in self.speeds
            if (row.variant, row.engine, row.cores) == (str(variant), chosen, cores)
        ]
        return max(rows, key=lambda row: row.words_per_second, default=None)
