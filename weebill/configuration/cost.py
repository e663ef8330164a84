"""Time that an experiment's jobs take, from the rates of hardware (operations) and filters (rows).

Rates of CPUs are measured, those of GPUs are assumed.  The estimate counts the jobs that grow with text and
updates, and leaves out those that take minutes: vocabularies, test sets, reports.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from weebill.configuration.schema import Config
from weebill.configuration.sizes import CorpusSize, Weights, total_bytes, weights
from weebill.experiment.precisions import quantized
from weebill.experiment.scores import STAGES, asked_for, scores_of
from weebill.experiment.training_texts import kinds_made_of
from weebill.experiment.zoo import Zoo, member_of, members
from weebill.pruning.recipes import made_variants, methods_of

# Operations a second, multiplication and addition counted as two: training by precision, and search.  The rates of
# one CPU thread were measured on Multi30k (docs/results/multi30k.md; the processor has AMX); those of a GPU such as
# an A100 are assumed.
RATES = {
    "cpu": {"float32": 5e10, "bfloat16": 1e11, "search": 6e10},
    "gpu": {"float32": 1e13, "bfloat16": 5e13, "search": 1e13},
}
LEAST_BATCH_SECONDS = {"cpu": 0.0, "gpu": 0.05}  # launching a small network's kernels; assumed
PIECE_BYTES = 4.5  # bytes of text for each piece
# Rows per second and thread.
IMPORTED = 100_000
CLEANED = 15_000
LANGUAGE_MODEL_SCORED = 50_000


class Work:
    """Durations of an experiment's jobs, in seconds.

    A training runs on all configured devices at once, a translation on one; a device on the CPU has several threads.
    """

    def __init__(self, config: Config, zoo: Zoo, corpora: Sequence[CorpusSize]) -> None:
        self.config, self.zoo, self.corpora = config, zoo, corpora
        hardware = config["hardware"]
        threads = hardware["threads"] if hardware["accelerator"] == "cpu" else 1
        self.rates = {name: threads * r for name, r in RATES[hardware["accelerator"]].items()}
        self.least = LEAST_BATCH_SECONDS[hardware["accelerator"]]
        self.one = threads  # GPUs or CPU threads of one device; `all`: of all devices
        self.all = threads * hardware["devices"] * hardware["nodes"]
        self.teachers = {
            section: self._networks(config[section])
            for section in ("teacher", "reverse_teacher")
            if section in config
        }

    def stages(self) -> dict[str, float]:
        """Return the seconds of each stage on one GPU or CPU thread."""
        found = {
            "teachers": self.all * sum(self._teacher_trainings("teacher")),
            "reverse teachers": self.all * sum(self._teacher_trainings("reverse_teacher")),
            "reverse model": self.all * self._reverse_training(),
            "translation": self.one
            * sum(
                self._translation(one, teacher) for one in self.corpora for teacher in self.teachers
            ),
            "reverse scores": self.one * sum(map(self._reverse_scores, STAGES)),
            "students": self.all * sum(self._student_trainings().values()),
        }
        return {stage: seconds for stage, seconds in found.items() if seconds}

    def text(self) -> float:
        """Return the seconds of one CPU thread for importing, cleaning, and scoring by language models."""
        return sum(map(self._corpus_text, self.corpora))

    def chain(self) -> float:
        """Return the seconds from the first job to the last if every job starts as soon as its inputs exist."""
        reverse_teachers = max(self._teacher_trainings("reverse_teacher"), default=0.0)
        scorer = self.config["scoring"].get("reverse_model")
        reverse = self._reverse_training() if scorer else reverse_teachers
        scores = {stage: self._reverse_scores(stage) for stage in STAGES}
        first = max(map(self._corpus_text, self.corpora), default=0.0)
        if scores["cleaning"]:
            first += reverse + scores["cleaning"]
            reverse_teachers = reverse_teachers if scorer else 0.0
            reverse = 0.0
        teachers = max(self._teacher_trainings("teacher"), default=0.0)
        # Back-translated text must exist before models learn it or translate it forward again.
        back = reverse_teachers + self._longest("reverse_teacher") + scores["back_translation"]
        learnt = self.config["teacher"]["back_translated"]
        ready = back + teachers if learnt else max(back, teachers)
        distilled = max(reverse, ready + self._longest("teacher")) + scores["distillation"]
        return first + distilled + self._student_chain()

    def _corpus_text(self, corpus: CorpusSize) -> float:
        """Return the seconds of one thread for the text of a corpus."""
        rows = corpus.rows or 0
        scores = [name for stage in STAGES for name in scores_of(self.config, corpus.name, stage)]
        models = sum(name.startswith("language_model") for name in scores)
        return rows / IMPORTED + rows / CLEANED + models * rows / LANGUAGE_MODEL_SCORED

    def _teacher_trainings(self, section: str) -> list[float]:
        """Return the seconds of each member's training; empty if no such teacher is trained here."""
        return self._trainings(self.config.get(section, {}), self.teachers.get(section))

    def _reverse_training(self) -> float:
        model = self.config["scoring"].get("reverse_model", {})
        asked = "reverse_model" in asked_for(self.config)
        return sum(self._trainings(model, self._networks(model))) if asked else 0.0

    def _trainings(self, model: Mapping[str, Any], networks: list[Weights] | None) -> list[float]:
        if "architecture" not in model:  # it is not trained
            return []
        training = model["training"]
        updates, precision = training["updates"], training["precision"]
        return [updates * self._update(own, training, precision) for own in networks or []]

    def _reverse_scores(self, stage: str) -> float:
        """Return the seconds in which the reverse model scores all corpora at a stage."""
        config = self.config
        model = config["scoring"].get("reverse_model") or config.get("reverse_teacher", {})
        operations = sum(
            _search_operations(corpus, own)
            for own in (self._networks(model) or [])[:1]
            for corpus in self.corpora
            if "reverse_model" in scores_of(config, corpus.name, stage)
        )
        return operations / self.rates["search"]

    def _translation(self, corpus: CorpusSize, section: str) -> float:
        """Return the seconds of one device to translate a corpus; target-side text may go back and forward again."""
        beam = self.config["distillation"]["monolingual_beam" if corpus.monolingual else "beam"]
        kinds = kinds_made_of(self.config, corpus.name)
        times = sum((kind == "backward") == (section == "reverse_teacher") for kind in kinds)
        networks = self.teachers[section] or []
        operations = sum(_search_operations(corpus, own, beam) for own in networks)
        return times * operations / self.rates["search"]

    def _longest(self, section: str) -> float:
        """Return the seconds of a teacher's longest translation job."""
        if section not in self.teachers:
            return 0.0
        seconds = max(self._translation(corpus, section) for corpus in self.corpora)
        return seconds / self.config["distillation"]["shards"]

    def _update(self, own: Weights, training: Mapping[str, Any], precision: str) -> float:
        """Return the seconds of one update of a model; half of a batch's positions are source.

        All devices work at the same time, each on its own batches.
        """
        positions = training["batch_tokens"] / 2
        operations = 6 * positions * (own.encoder + own.decoder + own.embedding)
        return training["accumulate"] * max(self.least, operations / self.rates[precision])

    def _student_trainings(self) -> dict[tuple[str, ...], float]:
        """Return the seconds of every training of students: (student, recipe, precision) or (student, updates)."""
        training, methods = self.config["training"], methods_of(self.config)
        variants, precision = made_variants(self.config), training["precision"]
        lasting: dict[tuple[str, ...], tuple[int, str]] = {}
        for student, recipe in dict.fromkeys(variant[:2] for variant in variants):
            method = methods.get(recipe)
            updates = method.extra_updates(training) if method else training["updates"]
            lasting[student, recipe, "float32"] = updates, precision
            if method and method.reset_to:
                lasting[student, str(method.reset_to)] = method.reset_to, precision
        made = quantized(self.config["quantization"])
        for variant in variants:
            if variant[2] in made and made[variant[2]].finetuned:
                finetune = self.config["quantization"][made[variant[2]].grid]["finetune"]
                lasting[variant] = finetune["updates"], finetune["precision"]
        return {
            key: updates * self._update(weights(self.zoo[key[0]], self.config), training, precision)
            for key, (updates, precision) in lasting.items()
        }

    def _student_chain(self) -> float:
        """Return the seconds of the longest chain of trainings from distilled text to a finished student."""
        seconds, methods = self._student_trainings(), methods_of(self.config)

        def until(student: str, recipe: str) -> float:
            method, before = methods.get(recipe), 0.0
            if method and method.shape_from:
                before = until(student, method.shape_from)
            elif method:
                before = seconds[student, str(method.reset_to)]
            return before + seconds.get((student, recipe, "float32"), 0.0)

        return max(
            until(*key[:2]) + (seconds[key] if key[2] != "float32" else 0.0)
            for key in seconds
            if len(key) == 3
        )

    def _networks(self, model: Mapping[str, Any]) -> list[Weights] | None:
        """Return the weights of each member of a model; None if they are unknown."""
        if "architecture" in model:
            entry = self.zoo[model["architecture"]]
            count = max(model.get("members", 1), len(members(entry)))
            return [weights(member_of(entry, number), self.config) for number in range(count)]
        # In a folder they are float32; half of them may be the encoder's.
        count = total_bytes([model["hugging_face"]]) // 4 if "hugging_face" in model else 0
        return [Weights(count // 2, count - count // 2, 0, 0)] if count else None


def _search_operations(corpus: CorpusSize, own: Weights, beam: int = 1) -> float:
    pieces = corpus.source / PIECE_BYTES
    return 2 * pieces * (own.encoder + beam * (own.decoder + own.embedding))
