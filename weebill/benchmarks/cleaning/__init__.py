"""Speed of cleaning against the same chain written in the ordinary way, line by line, and against OpusFilter.

OpusFilter (Aulamo et al. 2020) pins other packages, so it has its own environment.  Its preprocessor gets Moses'
substitutions of punctuation.  It has no filters for addresses and broken encodings, so it has less work.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
from sacremoses import MosesPunctNormalizer

from weebill.benchmarks import Option, Row
from weebill.benchmarks.cleaning.ordinary import OrdinaryChain, Pair
from weebill.benchmarks.opponent import Opponent
from weebill.corpus.cleaning.clean import Cleaning, clean_corpus
from weebill.corpus.cleaning.language_id import LanguageId
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.injected_noise import InjectedNoise, inject
from weebill.corpus.language_id_training import train_identifier
from weebill.corpus.table import SCHEMA, write_table
from weebill.corpus.tatoeba import NAME, read_pairs
from weebill.evaluation.timing.timer import rates_in_turn
from weebill.experiment.origins import FOLDER
from weebill.files import write_json, write_text
from weebill.text_files import read_lines

PAIRS = 20_000
# Real text with short pairs (70 characters) and long pairs (256), used if it was made by
# weebill fetch 'origin:train/*' origin:lid/lid.176.ftz
TATOEBA = FOLDER / "train/tatoeba.en", FOLDER / "train/tatoeba.de"
WMT = FOLDER / "train/onmt_wmt10k_detok.en", FOLDER / "train/onmt_wmt10k_detok.de"
JAPANESE = (
    FOLDER / "train/tatoeba_test.eng-jpn.eng",
    FOLDER / "train/tatoeba_test.eng-jpn.jpn",
)
LID_176 = FOLDER / "lid/lid.176.ftz"
LANGUAGES = "en", "de"
SCRIPTS = {"ja": "Han", "de": "Latin", "en": "Latin"}  # OpusFilter knows only one script per side
OPUSFILTER = Path(".venvs/opusfilter/bin/python")
OPUS_RATIO = {"word": 2, "char": 4}  # largest ratio of lengths, by the unit of length
SMALLEST = {"opusfilter": OPUSFILTER if OPUSFILTER.is_file() else None}
# Program of the opponent: the task "clean" runs the configured steps once; every task returns the version.
STEPS = """
from importlib.metadata import version
from opusfilter.opusfilter import OpusFilter
with open(arguments[0], encoding="utf-8") as file:
    chain = OpusFilter(json.load(file))
def work(task):
    if task == "clean":
        chain.execute_steps(overwrite=True)
    return version("opusfilter")
"""


def run(
    rounds: int,
    opusfilter: Annotated[
        Path | None,
        Option(
            "measure against OpusFilter too, by the Python of its own environment: `envs/install.sh "
            f"opusfilter .venvs/opusfilter` makes {OPUSFILTER}",
            "PYTHON",
        ),
    ] = None,
) -> Iterator[Row]:
    """Yield pairs per second of the whole chain on one core, on the embedded corpus, and on short and long text.

    opusfilter: the Python that runs OpusFilter, if wanted.  Raises InputError if it cannot run.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        identifier = folder / "language_id.ftz"
        train_identifier(identifier)
        noise = InjectedNoise(share=0.2, seed=1, other_languages=(NAME,))
        embedded = [(source, target) for source, target, _ in inject(read_pairs(), noise)]
        texts = [("the embedded corpus", embedded, identifier, LANGUAGES)]
        real = [
            ("Tatoeba", TATOEBA, 7, LANGUAGES),
            ("long text (WMT)", WMT, 1, LANGUAGES),
            ("Tatoeba en-ja", JAPANESE, 1, ("en", "ja")),
        ]
        for data, files, every, languages in real:
            if files and all(path.is_file() for path in (*files, LID_176)):
                lines = islice(zip(*map(read_lines, files), strict=True), 0, None, every)
                texts.append((f"{data} with lid.176", list(lines)[:PAIRS], LID_176, languages))
        for data, pairs, model, languages in texts:
            yield from _rows(data, pairs, model, languages, folder, rounds, opusfilter)


def _rows(
    data: str,
    pairs: Sequence[Pair],
    model: Path,
    languages: tuple[str, str],
    folder: Path,
    rounds: int,
    python: Path | None,
) -> Iterator[Row]:
    table = folder / "table.parquet"
    write_table(table, as_table(pairs))
    cleaning = Cleaning(language_id=LanguageId(str(model)))

    def against(other: Callable[[], object], claim: str, key: str = "") -> Row:
        ours = partial(clean_corpus, table, folder / "cleaned", languages, cleaning)
        rates = rates_in_turn({"ours": ours, "other": other}, len(pairs), rounds)
        claim = f"cleaning {data}{claim}; one core"
        return Row.of_rounds(claim, *rates.values(), unit="pairs/s", key=key)

    if languages == LANGUAGES:  # the ordinary chain knows only Latin letters
        chain = partial(OrdinaryChain(model, languages, Rules()).clean, pairs)
        yield against(chain, ": normalise, deduplicate, rules, language identification")
    for normalise in (True, False) if python else ():
        with opusfilter_chain(python, pairs, model, languages, folder, normalise) as opponent:
            ending = "" if normalise else ", which normalises nothing"
            claim = f", against OpusFilter {opponent.work('version')}{ending}"
            yield against(partial(opponent.work, "clean"), claim, f"{data}, OpusFilter{ending}")


def opusfilter_chain(
    python: Path,
    pairs: Sequence[Pair],
    model: Path,
    languages: tuple[str, str],
    folder: Path,
    normalise: bool,
) -> Opponent:
    """Start OpusFilter, whose task "clean" cleans the pairs once.  Raises InputError if this Python cannot run it.

    python: Python of its environment.  model: fastText model.  folder: place for OpusFilter's files.
    """
    raw = [folder / name for name in ("opusfilter.source", "opusfilter.target")]
    for path, lines in zip(raw, zip(*pairs, strict=True), strict=True):
        write_text(path, "".join(f"{line}\n" for line in lines))
    steps = _opusfilter_steps(model, languages, normalise)
    files = [[f"{path}.{number}" for path in raw] for number in range(1, len(steps))]
    kept = [folder / name for name in ("opusfilter.kept.source", "opusfilter.kept.target")]
    files = [list(map(str, raw)), *files, list(map(str, kept))]
    steps = [
        {"type": kind, "parameters": {"inputs": read, "outputs": written, **parameters}}
        for (kind, parameters), (read, written) in zip(steps, pairwise(files), strict=True)
    ]
    configuration = folder / "opusfilter.json"
    write_json(configuration, {"common": {"output_directory": str(folder)}, "steps": steps})
    names = {"option": "--opusfilter", "environment": "opusfilter"}
    return Opponent(python, STEPS, configuration, folder=folder, **names)


def _opusfilter_steps(
    model: Path, languages: tuple[str, str], normalise: bool
) -> list[tuple[str, dict[str, Any]]]:
    """Return the type and parameters of each step of our chain."""
    rules, unit = Rules(), "word" if languages == LANGUAGES else "char"
    scripts = [SCRIPTS[language] for language in languages]
    letters = {"threshold": rules.min_letter_characters, "exclude_whitespace": True}
    named = {"languages": [*languages], "thresholds": [0, 0], "model_path": str(model.resolve())}
    filters = [
        {"LengthFilter": {"min_length": 1, "max_length": rules.max_tokens, "unit": "word"}},
        {"LengthRatioFilter": {"threshold": OPUS_RATIO[unit], "unit": unit}},
        {"LongWordFilter": {"threshold": rules.max_word_characters + 1}},
        {"AlphabetRatioFilter": letters},
        {"CharacterScoreFilter": {"scripts": scripts, "thresholds": [0.5, 0.5]}},
        {"NonZeroNumeralsFilter": {"threshold": 1.0}},
        {"FastTextFilter": named},
    ]
    substitutions = [
        [[pattern, new, 0, []] for pattern, new in MosesPunctNormalizer(language).substitutions]
        for language in languages
    ]
    steps = [
        ("preprocess", {"preprocessors": [{"RegExpSub": {"lang_patterns": substitutions}}]}),
        ("remove_duplicates", {"lowercase": True, "letters_only": True}),
        ("filter", {"filters": filters}),
    ]
    return steps if normalise else steps[1:]


def as_table(pairs: Sequence[Pair]) -> pa.Table:
    """Make a table of pairs in the format of an imported corpus."""
    columns = {
        "source": [source for source, _ in pairs],
        "target": [target for _, target in pairs],
        "corpus": ["benchmark"] * len(pairs),
        "row": range(len(pairs)),
        "dropped_by": pa.nulls(len(pairs), pa.string()),
    }
    return pa.table(columns, schema=SCHEMA)
