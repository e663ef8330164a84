"""Scoring by a language model against only the library, KenLM.

Ours reads a table, makes tokens, scores, and writes a table; KenLM's own call gets tokenized lines.
"""

import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import kenlm

from weebill.benchmarks import Row
from weebill.benchmarks.cleaning import TATOEBA, as_table
from weebill.corpus.scores.language_model import cross_entropy, estimate, tokens
from weebill.corpus.scores.scoring import score_corpus
from weebill.corpus.table import write_table
from weebill.corpus.tatoeba import read_pairs
from weebill.evaluation.timing.timer import rates_in_turn
from weebill.experiment.origins import FOLDER
from weebill.experiment.scores import SCORES
from weebill.text_files import read_lines

SENTENCES = 20_000
# Real text, used if it was made (weebill fetch origin:mono/news.de): news sentences of 19 words.
NEWS = FOLDER / "mono/news.de"


def run(rounds: int) -> list[Row]:
    """Measure sentences per second on one core, on the embedded corpus, and on short and long real text."""
    texts = {"the embedded corpus": [target for _, target in read_pairs()]}
    for data, path in (("Tatoeba", TATOEBA[1]), ("news", NEWS)):
        if path.is_file():
            texts[data] = list(islice(read_lines(path), SENTENCES))
    return [_row(data, lines, rounds) for data, lines in texts.items()]


def _row(data: str, lines: Sequence[str], rounds: int) -> Row:
    with tempfile.TemporaryDirectory() as name:
        table, path = Path(name) / "table.parquet", Path(name) / "lm.klm"
        write_table(table, as_table([("", line) for line in lines]))
        estimate(lines, path)
        score, scorer = SCORES["language_model_target"], cross_entropy(path)
        model, prepared = kenlm.Model(str(path)), [tokens(line) for line in lines]

        def ours() -> None:
            score_corpus(table, Path(name) / "scores", score, scorer, {})

        def library() -> None:
            for line in prepared:
                model.score(line)

        rates = rates_in_turn({"ours": ours, "library": library}, len(lines), rounds)
    words = sum(line.count(" ") + 1 for line in prepared) / len(lines)
    claim = f"scoring {data} ({words:.0f} words a line) by a language model of 5 words; one core"
    return Row.of_rounds(claim, *rates.values(), unit="sentences/s")
