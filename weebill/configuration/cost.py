"""Time of an experiment's jobs, from the sizes of its inputs and the rates of hardware and filters.

`rates` has the rates of hardware; `measuring` has the time for starts of jobs and for measurements.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from weebill.configuration.rates import Rates
from weebill.configuration.schema import Config
from weebill.corpus.download import is_url
from weebill.corpus.importers.entries import IMPORTERS
from weebill.corpus.origins import catalogue
from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.corpus.tatoeba import PAIR_BYTES
from weebill.errors import key_path
from weebill.experiment.corpora import SECTIONS, Entry, entries, sides_of
from weebill.experiment.origins import is_made, name_of
from weebill.experiment.precisions import quantized
from weebill.experiment.scores import STAGES, asked_for, scores_of
from weebill.experiment.training_texts import kinds_made_of
from weebill.experiment.translating_models import translating_models
from weebill.experiment.vocabularies import vocabulary_parts, vocabulary_size
from weebill.experiment.zoo import Zoo, member_of, members
from weebill.pruning.recipes import made_variants, methods_of
from weebill_runtime.names import Side

SIDE_BYTES = 130  # bytes of a news or web sentence, if only the number of rows is known
TEST_SET_ROWS = 3000  # rows of a WMT test set
EXPANSION = {".gz": 3, ".xz": 4, ".zst": 3}  # plain text relative to its compressed file
COLUMNS_EXPANSION = 3  # plain text relative to a Parquet data set
PIECE_BYTES = 4.5  # bytes of text for each piece
# Rows per second and thread.
IMPORTED = 100_000
CLEANED = 15_000
SCORED = {
    "language_model_source": 20_000,  # of news; 60,000 of short sentences
    "language_model_target": 20_000,
    "lexical_translation": 3_500,
}


class CorpusSize(NamedTuple):
    """Rows and bytes of an importer entry's plain text, None if unknown; `name` is the last part of its key path."""

    key: str
    name: str
    rows: float | None
    text: float | None
    monolingual: Side | None
    fetched: bool

    @property
    def source(self) -> float:
        """Bytes of the only side, or of each of two sides; 0 if unknown."""
        return (self.text or 0) / (1 if self.monolingual else 2)


def corpus_sizes(config: dict[str, Any], sections: Iterable[str] = SECTIONS) -> list[CorpusSize]:
    """Return the size of every importer entry in some sections of a checked configuration, in the keys' order."""
    return [_size(entry) for entry in entries(config, sections)]


def _size(entry: Entry) -> CorpusSize:
    values, sides = entry.values, len(sides_of(entry.monolingual))
    own = (values[key] for key in IMPORTERS[values["importer"]].file_keys() if key in values)
    files = [Path(path) for path in own if not is_url(path)]
    if values["importer"] == EMBEDDED:
        rows, text = values["pairs"], values["pairs"] * PAIR_BYTES * sides / 2
    else:
        rows = TEST_SET_ROWS if values["importer"] == "sacrebleu" else values.get("rows")
        text = _text_here(files)
        if text is None and rows is not None:
            text = rows * SIDE_BYTES * sides
        elif text is not None and rows is None:
            rows = text / (SIDE_BYTES * sides)
        if rows and "lines" in values:
            first, last = values["lines"]["first"], values["lines"].get("last", rows)
            share = max(min(last, rows) - first + 1, 0) / rows
            rows, text = share * rows, share * text
    fetched = values["importer"] != EMBEDDED and not files
    key, name = key_path(entry.path), str(entry.path[-1])
    return CorpusSize(key, name, rows, text, entry.monolingual, fetched)


def _text_here(files: list[Path]) -> float | None:
    """Return the bytes of plain text in an entry's files or folder; None if one of them is missing."""
    if not files or not all(path.exists() or _size_of(path) for path in files):
        return None
    if files[0].is_dir():
        inside = (path for path in files[0].rglob("*") if path.is_file())
        return COLUMNS_EXPANSION * sum(path.stat().st_size for path in inside)
    return plain_bytes(files)


def plain_bytes(paths: Iterable[str | Path]) -> float:
    """Return the bytes of text in files, approximately if they are compressed; missing ones count as 0."""
    return sum(_size_of(path) * EXPANSION.get(path.suffix, 1) for path in map(Path, paths))


def _size_of(path: Path) -> int:
    """Return the bytes of a file, or of a public text that is not made yet; 0 if it is missing."""
    if path.is_file():
        return path.stat().st_size
    text = catalogue().get(name_of(path)) if is_made(path) else None
    return 0 if text is None else text.bytes


def total_bytes(paths: Iterable[str | Path]) -> int:
    """Return the bytes of files, and of the files in folders; missing ones count as 0."""
    found = [Path(path) for path in paths]
    inside = [entry for path in found if path.is_dir() for entry in path.iterdir()]
    return sum(map(_size_of, [*found, *inside]))


class Weights(NamedTuple):
    """Approximate numbers of weights: encoder, decoder with its output layer, and all as stored.

    The target's embedding is also the output layer.  Tied decoder layers count each time, but are stored once.
    """

    encoder: int
    decoder: int
    stored: int


def weights(entry: dict[str, Any], config: dict[str, Any]) -> Weights:
    """Return the weights of a single zoo model (no ensemble) with the vocabulary of a checked configuration."""
    d, a, f = entry["embedding"], entry["attention_width"], entry["feed_forward"]
    (pieces, _), *own = vocabulary_parts(vocabulary_size(config, entry))
    output = pieces * d
    layer = 4 * d * a + 2 * d * f
    encoder, layers = entry["encoder_layers"] * layer, entry["decoder_layers"]
    layer += 4 * d * a if entry["decoder"] == "attention" else 2 * d * d
    stored = encoder + (1 if entry["decoder_tied"] else layers) * layer + output
    stored += sum(size for size, _ in own) * d
    return Weights(encoder, layers * layer + output, stored)


class Work:
    """Durations of an experiment's jobs, in seconds; a training uses all devices, a translation one."""

    def __init__(self, config: Config, zoo: Zoo, corpora: Sequence[CorpusSize]) -> None:
        self.config, self.zoo, self.corpora = config, zoo, corpora
        hardware = config["hardware"]
        self.rates = Rates.of(hardware)
        # GPUs or CPU threads of one device, and of all devices.
        self.one = hardware["threads"] if hardware["accelerator"] == "cpu" else 1
        self.all = self.one * hardware["devices"] * hardware["nodes"]
        self.models = {place[-1]: model for place, model in translating_models(config)}
        self.networks = {name: self._networks(model) for name, model in self.models.items()}
        self.teachers = [name for name in ("teacher", "reverse_teacher") if name in self.models]

    def stages(self) -> dict[str, float]:
        """Return the seconds of each stage on one GPU or CPU thread."""
        translations = [self._translation(*pair) for pair in product(self.corpora, self.teachers)]
        found = {
            "teachers": self.all * sum(self._trainings("teacher")),
            "reverse teachers": self.all * sum(self._trainings("reverse_teacher")),
            "reverse model": self.all * sum(self._trainings("reverse_model")),
            "translation": self.one * sum(translations),
            "reverse scores": self.one * sum(map(self._reverse_scores, STAGES)),
            "students": self.all * sum(self.student_trainings().values()),
        }
        return {stage: seconds for stage, seconds in found.items() if seconds}

    def text(self) -> float:
        """Return the seconds of one CPU thread for import, cleaning, and scores with known rates."""
        return sum(map(self._corpus_text, self.corpora))

    def chain(self) -> float:
        """Return the seconds from the first job to the last if every job starts as soon as its inputs exist."""
        reverse_teachers = max(self._trainings("reverse_teacher"), default=0.0)
        scorer = "reverse_model" in self.models
        reverse = sum(self._trainings("reverse_model")) if scorer else reverse_teachers
        scores = {stage: self._reverse_scores(stage) for stage in STAGES}
        first = max(map(self._corpus_text, self.corpora), default=0.0)
        if scores["cleaning"]:
            first += reverse + scores["cleaning"]
            reverse_teachers = reverse_teachers if scorer else 0.0
            reverse = 0.0
        teachers = max(self._trainings("teacher"), default=0.0) / self._threads_of_teachers()
        # Back-translated text must exist before models learn it or translate it forward again.
        back = reverse_teachers + self._longest("reverse_teacher") + scores["back_translation"]
        learnt = self.config["teacher"]["back_translated"]
        ready = back + teachers if learnt else max(back, teachers)
        distilled = max(reverse, ready + self._longest("teacher")) + scores["distillation"]
        return first + distilled + self._student_chain()

    def _corpus_text(self, corpus: CorpusSize) -> float:
        rows = corpus.rows or 0
        scores = [name for stage in STAGES for name in scores_of(self.config, corpus.name, stage)]
        scored = sum(rows / SCORED[name] for name in scores if name in SCORED)
        return rows / IMPORTED + rows / CLEANED + scored

    def _trainings(self, name: str) -> list[float]:
        """Return the seconds of training each member of a translating model; empty if it is not trained here."""
        model = self.models.get(name, {})
        unused = name == "reverse_model" and name not in asked_for(self.config)
        if "architecture" not in model or unused:
            return []
        training = model["training"]
        updates, precision = training["updates"], training["precision"]
        return [updates * self._update(own, training, precision) for own in self.networks[name]]

    def _threads_of_teachers(self) -> float:
        """Return the CPU threads of a teacher's training for each thread of the other trainings."""
        threads = self.config["teacher"].get("threads") or self.one
        return threads / self.one if self.config["hardware"]["accelerator"] == "cpu" else 1

    def _reverse_scores(self, stage: str) -> float:
        """Return the seconds that the reverse model takes to score all corpora at a stage."""
        scorer = "reverse_model" if "reverse_model" in self.models else "reverse_teacher"
        return sum(
            search_seconds(self.rates, corpus, own)
            for own in self.networks.get(scorer, [])[:1]
            for corpus in self.corpora
            if "reverse_model" in scores_of(self.config, corpus.name, stage)
        )

    def _translation(self, corpus: CorpusSize, section: str) -> float:
        """Return the seconds of one device to translate a corpus; target text may be translated back and forward."""
        beam = self.config["distillation"]["monolingual_beam" if corpus.monolingual else "beam"]
        kinds = kinds_made_of(self.config, corpus.name)
        times = sum((kind == "backward") == (section == "reverse_teacher") for kind in kinds)
        networks = self.networks.get(section, [])
        return times * sum(search_seconds(self.rates, corpus, own, beam) for own in networks)

    def _longest(self, section: str) -> float:
        seconds = max(self._translation(corpus, section) for corpus in self.corpora)
        return seconds / self.config["distillation"]["shards"]

    def _update(self, own: Weights, training: Mapping[str, Any], precision: str) -> float:
        """Return the seconds of an update, which uses all devices; half of a batch's positions are source."""
        positions = training["batch_tokens"] / 2
        size = own.encoder + own.decoder
        rate = self.rates.training(precision, size, training["batch_tokens"])
        return training["accumulate"] * max(self.rates.least, 6 * positions * size / rate)

    def student_trainings(self) -> dict[tuple[str, ...], float]:
        """Return the seconds of every training of students: (student, recipe, precision) or (student, updates)."""
        training, methods = self.config["training"], methods_of(self.config)
        variants, precision = made_variants(self.config), training["precision"]
        lasting: dict[tuple[str, ...], tuple[int, str]] = {}
        for student, recipe in dict.fromkeys(variant[:2] for variant in variants):
            method = methods.get(recipe)
            whole = 0 if "published" in self.config else training["updates"]
            updates = method.extra_updates(training) if method else whole
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
        seconds, methods = self.student_trainings(), methods_of(self.config)

        def until(student: str, recipe: str) -> float:
            method, before = methods.get(recipe), 0.0
            if method and method.shape_from:
                before = until(student, method.shape_from)
            elif method:
                before = seconds.get((student, str(method.reset_to)), 0.0)
            return before + seconds.get((student, recipe, "float32"), 0.0)

        variants = [key for key in seconds if len(key) == 3]
        tuned = {key: seconds[key] for key in variants if key[2] != "float32"}
        return max(until(*key[:2]) + tuned.get(key, 0.0) for key in variants)

    def _networks(self, model: Mapping[str, Any]) -> list[Weights]:
        """Return the weights of each member of a model; none if they are unknown."""
        if model.get("published"):
            return [weights(self.zoo[self.config["students"][0]], self.config)]
        if "architecture" in model:
            entry = self.zoo[model["architecture"]]
            count = max(model.get("members", 1), len(members(entry)))
            return [weights(member_of(entry, number), self.config) for number in range(count)]
        # Weights in a folder are float32; about half of them belong to the encoder.
        count = total_bytes([model["hugging_face"]]) // 4 if "hugging_face" in model else 0
        return [Weights(count // 2, count - count // 2, count)] if count else []


def search_seconds(rates: Rates, corpus: CorpusSize, own: Weights, beam: int = 1) -> float:
    """Return the seconds that one network takes to translate a corpus on one device."""
    operations = 2 * corpus.source / PIECE_BYTES * (own.encoder + beam * own.decoder)
    return operations / rates.search(own.encoder + own.decoder, beam)
