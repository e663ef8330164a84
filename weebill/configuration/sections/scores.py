"""Settings of cleaning and of the scores that drop rows."""

from dataclasses import fields
from typing import Annotated, Any, get_type_hints

from weebill.corpus.cleaning.language_id import LanguageId
from weebill.corpus.cleaning.rules import Rules
from weebill.experiment.scores import Cut
from weebill.settings import (
    Ge,
    Weight,
    made_section,
    section,
)
from weebill_runtime.normalisation import Punctuation


@section
class Score:
    """One score of the rows, a column of the table."""

    cut: Cut = Cut()
    """Rows that the score drops, given by one of its keys; without a key, the score is only a column."""


@section
class WeightedScore(Score):
    """Score that also provides weights."""

    weight_scale: Weight = 0.1
    """Factor of the score in a pair's weight in the training loss, exp(factor × score). In `cleaning` it applies to
    all models that are trained on the corpus, including the teacher; in `distillation` only to students. 0 turns
    weights off."""


@section
class Scores:
    """Scores of rows, in the order in which they drop rows.

    In each corpus, a score drops some of the rows that the earlier scores kept.
    """

    bicleaner: Score | None = None
    """Probability from bicleaner-ai that the sides are translations of each other, for parallel and distilled text. A
    common `threshold` is 0.5. It needs a separate environment, which the run makes if this key is used."""
    language_model_source: Score | None = None
    """Bits per word of the source side under a KenLM language model. Monolingual text gets a score for its missing
    side only after translation."""
    language_model_target: Score | None = None
    """Bits per word of the target side; WMT21 dropped 5 % of the distilled pairs by it."""
    lexical_translation: Score | None = None
    """Gain in probability of one side's words given the other side, in nats per word, in the worse direction; 0 if
    neither side explains the other. An earlier version was the best single score
    [on 857 labelled pairs](../docs/results/multi30k/filters.md)."""
    reverse_model: WeightedScore | None = None
    """Mean log probability of the source's pieces given the target, from a model of the reverse direction
    (WNGT20)."""
    combined: Score | None = None
    """Log odds of a good pair, from a logistic regression fitted to `evaluation.labelled`. Its inputs are all scores
    for which `scoring` has models (always the language models), lengths, letters, numbers and ends of sentences. With
    a few hundred labelled pairs of a corpus, it is the best filter."""


@section
class Cleaning:
    """Settings of the cleaning of corpora."""

    shard_rows: Annotated[int, Ge(1000)] = 100_000
    """Rows in one shard of a corpus."""
    punctuation: Punctuation | None = None
    """`moses` replaces typographic quotes, dashes and spaces around punctuation by ASCII, like Moses' script; `keep`
    leaves them. The default is `keep` on a side in Chinese, Japanese or Korean, else `moses`.
    Translators and exports of the models treat their input in the same way."""
    rules: Rules = Rules()
    """Thresholds of the rules. Pairs that break a rule, and pairs with empty or equal sides, are dropped."""
    language_id: LanguageId | None = None
    """Language identification of both sides by fastText; without this key there is none."""
    near_duplicates: bool = True
    """Drop pairs that repeat an earlier one except for case, punctuation and spaces."""
    remove_test_overlap: bool = True
    """Drop training pairs that share a side with a test set or the validation set."""
    scores: Scores = Scores()
    """Scores of the rows that the rules keep; each is a column of `corpora/NAME/selected`. The vocabulary, the
    teacher and all later stages leave out rows that a score drops."""


@section
class ScoredText:
    """Scores of translated text."""

    scores: Scores = Scores()
    """Scores of the text that the reverse teacher translates, and its translation. Dropped rows are neither used for
    training nor translated forward again."""


# The keys of overrides are optional, and have no sentences, because the keys that they override have them.
def _optional(settings: type, *without: str) -> list[tuple[str, Any, None, str]]:
    hints = get_type_hints(settings, include_extras=True).items()
    return [(key, hint | None, None, "") for key, hint in hints if key not in without]


CorpusRules = made_section(
    "CorpusRules",
    "Rules of one corpus: the keys of `cleaning.rules` that it overrides.",
    _optional(Rules),
    bases=(Rules,),
)
CorpusLanguageId = made_section(
    "CorpusLanguageId",
    "Language identification of one corpus.",
    _optional(LanguageId, "model", "sha256"),
)


@section
class CorpusScore:
    """Cut of a score in one corpus, which replaces the experiment's whole cut."""

    cut: Cut


CorpusScores = made_section(
    "CorpusScores",
    "Cuts of one corpus.",
    [(score.name, CorpusScore | None, None, "") for score in fields(Scores)],
)


@section
class CorpusCleaning:
    """Cleaning of one corpus: the keys of `cleaning` that it overrides."""

    rules: CorpusRules | None = None
    language_id: CorpusLanguageId | None = None
    near_duplicates: bool | None = None
    remove_test_overlap: bool | None = None
    scores: CorpusScores | None = None


@section
class CorpusTranslation:
    """Scores of one corpus' translation."""

    scores: CorpusScores | None = None
