"""Time that an experiment's jobs take, from the rates of hardware (operations) and filters (rows).

Rates of CPUs are measured, those of GPUs are assumed.  The estimate counts the jobs that grow with text and
updates, and leaves out those that take minutes: vocabularies, test sets, reports.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from weebill.configuration.sizes import CorpusSize, Weights, total_bytes, weights
from weebill.experiment.precisions import quantized
from weebill.experiment.scores import STAGES, asked_for, scores_of
from weebill.experiment.training_texts import kinds_made_of
from weebill.experiment.zoo import Zoo, member_of, members
from weebill.pruning.recipes import made_variants, methods_of

Config = dict[str, Any]

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
        accelerator = hardware["accelerator"]
        threads = hardware["threads"] if accelerator == "cpu" else 1
        self.rates = {name: threads * rate for name, rate in RATES[accelerator].items()}
        self.least = LEAST_BATCH_SECONDS[accelerator]
        self.one = threads  # GPUs or CPU threads of one device; `all`: of all devices
        self.all = threads * hardware["devices"] * hardware["nodes"]
        self.teachers = {
            section: self._teachers(config[section])
            for section in ("teacher", "reverse_teacher")
            if section in config
        }

    def stages(self) -> dict[str, float]:
        """Return the seconds of each stage on one GPU or CPU thread."""
        found = {
            "teachers": self.all * sum(self.teacher_trainings("teacher")),
            "reverse teachers": self.all * sum(self.teacher_trainings("reverse_teacher")),
            "reverse model": self.all * self.reverse_training(),
            "translation": self.one * sum(map(self.translation, self.corpora)),
            "reverse scores": self.one * sum(map(self.reverse_scores, STAGES)),
            "students": self.all * sum(seconds for _, seconds in self.student_trainings()),
        }
        return {stage: seconds for stage, seconds in found.items() if seconds}

    def text(self) -> float:
        """Return the seconds of one CPU thread for importing, cleaning, and scoring by language models."""
        return sum(self.corpus_text(corpus) for corpus in self.corpora)

    def chain(self) -> float:
        """Return the seconds from the first job to the last if every job starts as soon as its inputs exist."""
        reverse_teachers = max(self.teacher_trainings("reverse_teacher"), default=0.0)
        scorer = self.config["scoring"].get("reverse_model")
        reverse = self.reverse_training() if scorer else reverse_teachers
        scores = {stage: self.reverse_scores(stage) for stage in STAGES}
        first = max(map(self.corpus_text, self.corpora), default=0.0)
        if scores["cleaning"]:
            first += reverse + scores["cleaning"]
            reverse_teachers = reverse_teachers if scorer else 0.0
            reverse = 0.0
        teachers = max(self.teacher_trainings("teacher"), default=0.0)
        # Back-translated text must exist before models learn it or translate it forward again.
        back = reverse_teachers + self._longest("reverse_teacher") + scores["back_translation"]
        learnt = self.config["teacher"]["back_translated"]
        ready = back + teachers if learnt else max(back, teachers)
        distilled = max(reverse, ready + self._longest("teacher")) + scores["distillation"]
        return first + distilled + self._student_chain()

    def corpus_text(self, corpus: CorpusSize) -> float:
        """Return the seconds of one thread for the text of a corpus."""
        rows = corpus.rows or 0
        models = sum(
            name.startswith("language_model")
            for stage in STAGES
            for name in scores_of(self.config, corpus.name, stage)
        )
        cleaning = rows / CLEANED
        return rows / IMPORTED + cleaning + models * rows / LANGUAGE_MODEL_SCORED

    def teacher_trainings(self, section: str) -> list[float]:
        """Return the seconds of each member's training; empty if no such teacher is trained here."""
        if "architecture" not in self.config.get(section, {}):
            return []
        training = self.config[section]["training"]
        return [
            training["updates"] * self.update(member, training, training["precision"])
            for member in self.teachers[section] or []
        ]

    def reverse_training(self) -> float:
        """Return the seconds of the reverse model's training."""
        model = self.config["scoring"].get("reverse_model", {})
        if "architecture" not in model or "reverse_model" not in asked_for(self.config):
            return 0.0
        training = model["training"]
        own = weights(self.zoo[model["architecture"]], self.config)
        return training["updates"] * self.update(own, training, training["precision"])

    def reverse_scores(self, stage: str) -> float:
        """Return the seconds in which the reverse model scores all corpora at a stage."""
        config = self.config
        model = config["scoring"].get("reverse_model") or config.get("reverse_teacher", {})
        if "architecture" in model:
            own = weights(member_of(self.zoo[model["architecture"]], 0), self.config)
        else:
            own = _of_folder(model.get("hugging_face"))
        operations = sum(
            2 * corpus.source / PIECE_BYTES * (own.encoder + own.decoder + own.embedding)
            for corpus in self.corpora
            if own and "reverse_model" in scores_of(self.config, corpus.name, stage)
        )
        return operations / self.rates["search"]

    def translation(self, corpus: CorpusSize) -> float:
        """Return the seconds of one device to translate a corpus; target-side text may go back and forward again."""
        return sum(self._translation(corpus, section) for section in self.teachers)

    def _translation(self, corpus: CorpusSize, section: str) -> float:
        distillation = self.config["distillation"]
        beam = distillation["monolingual_beam" if corpus.monolingual else "beam"]
        kinds = kinds_made_of(self.config, corpus.name)
        times = sum((kind == "backward") == (section == "reverse_teacher") for kind in kinds)
        operations = sum(
            2 * corpus.source / PIECE_BYTES * (own.encoder + beam * (own.decoder + own.embedding))
            for own in self.teachers[section] or []
        )
        return times * operations / self.rates["search"]

    def _longest(self, section: str) -> float:
        """Return the seconds of a teacher's longest translation job."""
        if section not in self.teachers:
            return 0.0
        seconds = max(self._translation(corpus, section) for corpus in self.corpora)
        return seconds / self.config["distillation"]["shards"]

    def student_trainings(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield every training of students, (student, recipe, precision) or (student, updates), and its seconds."""
        for key, updates, precision in self._student_updates():
            own = weights(self.zoo[key[0]], self.config)
            yield key, updates * self.update(own, self.config["training"], precision)

    def update(self, own: Weights, training: Config, precision: str) -> float:
        """Return the seconds of one update; half of a batch's positions are source.

        own: weights of the trained model.  All devices work at the same time, each on its own batches.
        """
        positions = training["batch_tokens"] / 2
        operations = 6 * positions * (own.encoder + own.decoder + own.embedding)
        batch = max(self.least, operations / self.rates[precision])
        return training["accumulate"] * batch

    def _student_updates(self) -> Iterator[tuple[tuple[str, ...], int, str]]:
        training, methods = self.config["training"], methods_of(self.config)
        variants, precision = made_variants(self.config), training["precision"]
        for student, recipe in dict.fromkeys(variant[:2] for variant in variants):
            method = methods.get(recipe)
            updates = method.extra_updates(training) if method else training["updates"]
            yield (student, recipe, "float32"), updates, precision
        resets = {
            (student, methods[recipe].reset_to)
            for student, recipe, _ in variants
            if recipe in methods and methods[recipe].reset_to
        }
        for student, updates in sorted(resets):
            yield (student, str(updates)), updates, precision
        made = quantized(self.config["quantization"])
        for variant in variants:
            if variant[2] in made and made[variant[2]].finetuned:
                finetune = self.config["quantization"][made[variant[2]].grid]["finetune"]
                yield variant, finetune["updates"], finetune["precision"]

    def _student_chain(self) -> float:
        """Return the seconds of the longest chain of trainings from distilled text to a finished student."""
        seconds = dict(self.student_trainings())
        methods = methods_of(self.config)

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

    def _teachers(self, teacher: Config) -> list[Weights] | None:
        """Return the weights of each member of a teacher; None if they are unknown."""
        if "hugging_face" in teacher:
            own = _of_folder(teacher["hugging_face"])
            return [own] if own else None
        entry = self.zoo[teacher["architecture"]]
        count = max(teacher["members"], len(members(entry)))
        return [weights(member_of(entry, number), self.config) for number in range(count)]


def _of_folder(folder: str | None) -> Weights | None:
    """Estimate the weights in a model folder, in float32, half of them in the encoder; None if it is missing."""
    count = total_bytes([folder]) // 4 if folder else 0
    return Weights(count // 2, count - count // 2, 0, 0) if count else None
