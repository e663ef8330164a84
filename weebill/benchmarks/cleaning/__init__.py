"""Speed of cleaning against the same chain written the ordinary way, line by line, and against OpusFilter."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import pyarrow as pa

from weebill.benchmarks import Row
from weebill.benchmarks.cleaning.opusfilter import OpusFilterChain
from weebill.benchmarks.cleaning.ordinary import OrdinaryChain, Pair
from weebill.benchmarks.options import Option
from weebill.corpus.cleaning.clean import Cleaning, clean_corpus
from weebill.corpus.cleaning.language_id import LanguageId
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.injected_noise import InjectedNoise, inject
from weebill.corpus.language_id_training import train_identifier
from weebill.corpus.table import SCHEMA, write_table
from weebill.corpus.tatoeba import NAME, read_pairs
from weebill.evaluation.timing.timer import rates_in_turn
from weebill.text_files import read_lines

PAIRS = 20_000
# Real text, used if the files exist: short pairs (70 characters), long ones (256).
TRAIN = Path("../shared/data/train")
TATOEBA = TRAIN / "tatoeba.en.gz", TRAIN / "tatoeba.de.gz"
WMT = TRAIN / "onmt_wmt10k_detok.en.gz", TRAIN / "onmt_wmt10k_detok.de.gz"
LID_176 = Path("../shared/data/lid/lid.176.ftz")
LANGUAGES = "en", "de"
OPUSFILTER = Path(".venvs/opusfilter/bin/python")
SMALLEST = {"opusfilter": OPUSFILTER if OPUSFILTER.is_file() else None}


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
    """Yield pairs per second of the whole chain on one core, on the embedded corpus, on short and on long text.

    opusfilter: the Python that runs OpusFilter; None leaves OpusFilter out.  Raises InputError if it cannot be run.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        identifier = folder / "language_id.ftz"
        train_identifier(identifier)
        noise = InjectedNoise(share=0.2, seed=1, other_languages=(NAME,))
        embedded = [(source, target) for source, target, _ in inject(read_pairs(), noise)]
        texts = [("the embedded corpus", embedded, identifier)]
        real = [
            ("Tatoeba with lid.176", TATOEBA, 7),
            ("long text (WMT) with lid.176", WMT, 2),
        ]
        for data, files, every in real:
            if files and all(path.is_file() for path in (*files, LID_176)):
                lines = zip(*map(read_lines, files), strict=True)
                texts.append((data, list(islice(lines, 0, None, every))[:PAIRS], LID_176))
        for data, pairs, model in texts:
            yield from _rows(data, pairs, model, folder, rounds, opusfilter)


def _rows(
    data: str,
    pairs: Sequence[Pair],
    model: Path,
    folder: Path,
    rounds: int,
    opusfilter: Path | None,
) -> Iterator[Row]:
    table = folder / "table.parquet"
    write_table(table, as_table(pairs))
    cleaning = Cleaning(language_id=LanguageId(str(model)))

    def against(other: Callable[[], object], claim: str, key: str = "") -> Row:
        ours = partial(clean_corpus, table, folder / "cleaned", LANGUAGES, cleaning)
        rates = rates_in_turn({"ours": ours, "other": other}, len(pairs), rounds)
        return Row.of_rounds(
            f"cleaning {data}{claim}; one core", *rates.values(), unit="pairs/s", key=key
        )

    chain = OrdinaryChain(model, LANGUAGES, Rules())
    yield against(
        partial(chain.clean, pairs), ": normalise, deduplicate, rules, language identification"
    )
    if opusfilter is None:
        return
    for normalise in (True, False):
        with OpusFilterChain(
            opusfilter, pairs, model, LANGUAGES, Rules(), folder, normalise
        ) as opponent:
            ending = "" if normalise else ", which normalises nothing"
            claim = f", against OpusFilter {opponent.version}{ending}"
            yield against(opponent.clean, claim, f"{data}, OpusFilter{ending}")


def as_table(pairs: Sequence[Pair]) -> pa.Table:
    """Make a table of pairs like that of an imported corpus."""
    columns = {
        "source": [source for source, _ in pairs],
        "target": [target for _, target in pairs],
        "corpus": ["benchmark"] * len(pairs),
        "row": range(len(pairs)),
        "dropped_by": pa.nulls(len(pairs), pa.string()),
    }
    return pa.table(columns, schema=SCHEMA)
