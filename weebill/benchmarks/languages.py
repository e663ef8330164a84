"""Effects of the defaults of cleaning, vocabularies and word scores on text of many languages; nothing is timed.

The text is FLORES-101 (professional translations of the same 1,012 sentences) with English, and Tatoeba:
weebill fetch 'origin:flores/*' 'origin:train/tatoeba*' origin:lid/lid.176.ftz
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np

from weebill.benchmarks import Option
from weebill.corpus.cleaning.language_id import LanguageId, LanguageIdentifier
from weebill.corpus.cleaning.losses import verdicts
from weebill.corpus.cleaning.pairs import Context
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.labelled import roc_auc
from weebill.corpus.language_codes import has_case
from weebill.corpus.scores.lexical_translation import estimate, log_ratio
from weebill.errors import InputError
from weebill.experiment.origins import FOLDER
from weebill.report.table import Column, Row, Table, fixed
from weebill.text_files import read_lines
from weebill.translation.model.vocabulary_fit import measure_fit

FLORES = {
    "ar": "ara", "de": "deu", "fa": "fas", "fr": "fra", "hi": "hin", "hr": "hrv", "ja": "jpn", "ko": "kor",
    "ru": "rus", "th": "tha", "tr": "tur", "zh": "cmn_Hans",
}  # fmt: skip
TATOEBA = {
    "ar": ("tatoeba_test.eng-ara.eng", "tatoeba_test.eng-ara.ara"),
    "de": ("tatoeba.en", "tatoeba.de"),
    "ja": ("tatoeba_test.eng-jpn.eng", "tatoeba_test.eng-jpn.jpn"),
}
LEARNT = 9000  # pairs for counting translations of words
PIECES = 1500
# These languages have more than 1,000 common letters.
MORE_PIECES = {"zh": 2500, "ja": 2500, "ko": 2500}
KEPT_GOOD = 0.95
SEED = 1  # seed of the shuffle, the vocabularies and the alignment
SMALLEST = {"languages": ("de",)}

Pair = tuple[str, str]


def run(
    rounds: int,
    languages: Annotated[Sequence[str], Option("languages beside English", choices=FLORES)] = tuple(
        FLORES
    ),
) -> Iterator[Table]:
    """Yield the tables of cleaning and vocabularies, and of word scores.  Raises InputError without the texts."""
    yield cleaning_table(languages)
    if learnt := [one for one in TATOEBA if one in languages]:
        yield scores_table(learnt)


def read(name: str) -> list[str]:
    """Return the lines of a public text.  Raises InputError if it was not fetched."""
    path = FOLDER / name
    if not path.is_file():
        raise InputError(f"{path}: not here; `weebill fetch origin:{name}` makes it")
    return list(read_lines(path))


def cleaning_table(languages: Sequence[str]) -> Table:
    """Return the shares of FLORES that cleaning keeps or drops, and the fit of vocabularies."""
    english, rows = read("flores/eng.devtest"), []
    order = np.random.default_rng(SEED).permutation(len(english)).tolist()
    for language in languages:
        other, both = read(f"flores/{FLORES[language]}.devtest"), ("en", language)
        rules = Context(Rules())
        identifier = LanguageIdentifier(LanguageId(str(FOLDER / "lid/lid.176.ftz")), both)
        whole = Context(Rules(), identifier)
        kept = verdicts((english, other), both, whole)
        shuffled = verdicts((english, [other[row] for row in order]), both, rules)
        capitals = tuple([line.upper() for line in side] for side in (english, other))
        upper = verdicts(capitals, both, whole) if has_case(language) else None
        fit = measure_fit(
            other, language, MORE_PIECES.get(language, PIECES), SEED, tokenizer="char"
        )
        dropped = Counter(filter(None, kept)).most_common(2)
        cells = [
            _percent(verdicts((english, other), both, rules).count(None), len(other)),
            _percent(kept.count(None), len(other)),
            ", ".join(f"{filter_name} {count}" for filter_name, count in dropped),
            _percent(len(other) - shuffled.count(None), len(other)),
            "" if upper is None else _percent(upper.count(None), kept.count(None)),
            fixed(fit.round_trip_bleu, 1),
            fixed(100 * fit.rare_as_written, 1),
            fixed(100 * fit.rare_cleaned, 1),
        ]
        rows.append(Row.of((language, *cells)))
    columns = (
        *Column.texts(language="Language"),
        Column("rules", "Kept by the rules, %"),
        Column("kept", "and by lid.176, %"),
        *Column.texts(dropped="Dropped by"),
        Column("shuffled", "Shuffled pairs dropped by the rules, %"),
        Column("capitals", "Capitals kept, % of plain"),
        Column("round_trip", "BLEU of decoded text"),
        Column("raw", "Lines with rare characters, %"),
        Column("cleaned", "the same, cleaned, %"),
    )
    return Table(
        "languages",
        "Cleaning and vocabularies by language",
        "FLORES-101 devtest, 1,012 professional translations from English, with the defaults of cleaning.",
        columns,
        rows,
        (
            "Shuffled: each English line beside the translation of another, drawn at random.",
            "Decoded text: BLEU of characters of decode(encode(cleaned text)) against the cleaned text, under a "
            f"vocabulary of {PIECES:,} pieces (zh, ja, ko: {MORE_PIECES['zh']:,}) from the other half of the lines.",
            "Rare characters: those without a piece of their own, which become bytes; of the lines as they are "
            "written, read by SentencePiece alone, and of the cleaned lines.",
        ),
    )


def scores_table(languages: Sequence[str]) -> Table:
    """Return how well the translations of words separate pairs from shuffled ones."""
    rows = []
    for language in languages:
        texts = (read(f"train/{name}") for name in TATOEBA[language])
        pairs = list(islice(zip(*texts, strict=True), 2 * LEARNT))
        learnt, others = pairs[:LEARNT], pairs[LEARNT:]
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.parquet"
            estimate(learnt, table, LEARNT, SEED)
            score = log_ratio(table)
            cells = [text for tested in (learnt, others) for text in _separation(score, tested)]
        rows.append(Row.of((f"en-{language}", str(len(others)), *cells)))
    columns = (
        *Column.texts(languages="Languages"),
        Column("others", "Other pairs"),
        Column("auc", "Learnt pairs: AUC"),
        Column("dropped", "shuffled dropped, %"),
        Column("auc_others", "Other pairs: AUC"),
        Column("dropped_others", "shuffled dropped, % of other pairs"),
    )
    return Table(
        "lexical_translation",
        "Score lexical_translation by language",
        f"The score lexical_translation, learnt from {LEARNT:,} short pairs of Tatoeba: pairs against each source "
        f"with the next pair's target, of the learnt pairs and of others.",
        columns,
        rows,
        (f"Shuffled dropped: at the limit that keeps {KEPT_GOOD:.0%} of the true pairs.",),
    )


def _separation(score, pairs: list[Pair]) -> tuple[str, str]:
    """Return, as text, the AUC of true against shuffled pairs, and the share of shuffled pairs below a limit."""
    sources, targets = map(list, zip(*pairs, strict=True))
    true, shuffled = score(sources, targets), score(sources, [*targets[1:], targets[0]])
    good = np.repeat([True, False], len(pairs))
    dropped = (shuffled < np.quantile(true, 1 - KEPT_GOOD)).mean()
    return fixed(roc_auc(np.concatenate([true, shuffled]), good), 3), fixed(100 * dropped, 1)


def _percent(part: int, whole: int) -> str:
    return fixed(100 * part / whole, 1)
