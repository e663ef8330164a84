"""How long an experiment's jobs take: operations of its models at the rate of its hardware, rows at the filters'.

Rates of CPUs are measured, those of GPUs assumed.  Counted are the jobs that grow with text and updates; what
takes minutes (vocabularies, test sets, reports) is not.
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

# Operations a second, multiplication and addition counted as two: training by precision, and search.  Of a CPU's
# thread as measured on Multi30k (docs/results/multi30k.md; the processor has AMX); of a GPU such as an A100, assumed.
RATES = {
    "cpu": {"float32": 5e10, "bfloat16": 1e11, "search": 6e10},
    "gpu": {"float32": 1e13, "bfloat16": 5e13, "search": 1e13},
}
LEAST_BATCH_SECONDS = {"cpu": 0.0, "gpu": 0.05}  # launching a small network's kernels; assumed
PIECE_BYTES = 4.5  # of text
# Rows a second and thread.
IMPORTED = 100_000
CLEANED = 15_000
LANGUAGE_MODEL_SCORED = 50_000


class Work:
    """Seconds of the jobs of an experiment.

    A training runs on all configured devices at once, a translation on one; a CPU's device has several threads.
    """

    def __init__(self, config: Config, zoo: Zoo, corpora: Sequence[CorpusSize]) -> None:
        self.config, self.zoo, self.corpora = config, zoo, corpora
        hardware = config["hardware"]
        accelerator = hardware["accelerator"]
        threads = hardware["threads"] if accelerator == "cpu" else 1
        self.rates = {name: threads * rate for name, rate in RATES[accelerator].items()}
        self.least = LEAST_BATCH_SECONDS[accelerator]
        self.one = threads  # GPUs or CPU threads of one device, and of all
        self.all = threads * hardware["devices"] * hardware["nodes"]
        self.teachers = {
            section: self._teachers(config[section])
            for section in ("teacher", "reverse_teacher")
            if section in config
        }

    def stages(self) -> dict[str, float]:
        """Seconds by stage, of one GPU or CPU thread."""
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
        """Seconds of one CPU thread: importing, cleaning, scoring by language models."""
        return sum(self.corpus_text(corpus) for corpus in self.corpora)

    def chain(self) -> float:
        """Seconds from the first job to the last where every job starts as soon as its inputs are there."""
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
        # What is translated back must be there before it is learnt, or translated forward again.
        back = reverse_teachers + self._longest("reverse_teacher") + scores["back_translation"]
        learnt = self.config["teacher"]["back_translated"]
        ready = back + teachers if learnt else max(back, teachers)
        distilled = max(reverse, ready + self._longest("teacher")) + scores["distillation"]
        return first + distilled + self._student_chain()

    def corpus_text(self, corpus: CorpusSize) -> float:
        """Seconds of one thread for the text of a corpus."""
        rows = corpus.rows or 0
        models = sum(
            name.startswith("language_model")
            for stage in STAGES
            for name in scores_of(self.config, corpus.name, stage)
        )
        cleaning = rows / CLEANED
        return rows / IMPORTED + cleaning + models * rows / LANGUAGE_MODEL_SCORED

    def teacher_trainings(self, section: str) -> list[float]:
        """Seconds of each member's training; none where there is no such teacher, or it is there already."""
        if "architecture" not in self.config.get(section, {}):
            return []
        training = self.config[section]["training"]
        return [
            training["updates"] * self.update(member, training, training["precision"])
            for member in self.teachers[section] or []
        ]

    def reverse_training(self) -> float:
        """Seconds of the reverse model's training."""
        model = self.config["scoring"].get("reverse_model", {})
        if "architecture" not in model or "reverse_model" not in asked_for(self.config):
            return 0.0
        training = model["training"]
        own = weights(self.zoo[model["architecture"]], self.config)
        return training["updates"] * self.update(own, training, training["precision"])

    def reverse_scores(self, stage: str) -> float:
        """Seconds of the reverse model's scoring of all corpora at a stage."""
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
        """Seconds of one device in which a corpus is translated, back and forward again where it is the target."""
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
        """Seconds of the longest job in which a teacher translates."""
        if section not in self.teachers:
            return 0.0
        seconds = max(self._translation(corpus, section) for corpus in self.corpora)
        return seconds / self.config["distillation"]["shards"]

    def student_trainings(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """What is trained of the students, (student, recipe, precision) or (student, updates), and its seconds."""
        for key, updates, precision in self._student_updates():
            own = weights(self.zoo[key[0]], self.config)
            yield key, updates * self.update(own, self.config["training"], precision)

    def update(self, own: Weights, training: Config, precision: str) -> float:
        """Seconds of one update, in which each device takes its batches: half of their positions are source."""
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
        """Seconds of the longest way from distilled text to a finished student."""
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
        """The weights of each model that translates together; None where they cannot be told."""
        if "hugging_face" in teacher:
            own = _of_folder(teacher["hugging_face"])
            return [own] if own else None
        entry = self.zoo[teacher["architecture"]]
        count = max(teacher["members"], len(members(entry)))
        return [weights(member_of(entry, number), self.config) for number in range(count)]


def _of_folder(folder: str | None) -> Weights | None:
    """Of a folder with weights in float32: half of them are taken for the encoder's.  None where it is not here."""
    count = total_bytes([folder]) // 4 if folder else 0
    return Weights(count // 2, count - count // 2, 0, 0) if count else None
