"""Settings of cleaning and of the scores that drop rows."""

from dataclasses import fields, make_dataclass
from typing import Annotated, get_type_hints

from weebill.corpus.cleaning.rules import Rules
from weebill.settings import (
    Amount,
    Count,
    Ge,
    Language,
    Lt,
    Place,
    Sha256,
    Share,
    Unique,
    Weight,
    section,
)
from weebill_runtime.normalisation import Punctuation


@section
class Cut:
    """Rows that a score drops, by one of these keys; without any it drops nothing and is only a column."""

    percent: Annotated[float, Ge(0), Lt(100)] | None = None
    """Percentage of the rows to drop, the worst first: floor(n · percent / 100) of n rows; among equal scores the
    later row is dropped first."""
    best: Count | None = None
    """Number of rows to keep, those with the best scores."""
    threshold: float | None = None
    """Worst score of a row that is kept."""


@section
class Score:
    """One score of the rows, a column of the table."""

    cut: Cut = Cut()
    """Rows that the score drops, by one of its keys; without any it drops nothing and is only a column."""


@section
class WeightedScore(Score):
    """Score that also provides weights."""

    weight_scale: Weight = 0.1
    """Factor of the score in a pair's weight in the training loss, exp(factor × score). In `cleaning` it holds for
    all models that are trained on the corpus, including the teacher; in `distillation` for students only. 0 turns
    weights off."""


@section
class Scores:
    """Scores of rows, in the order in which they drop rows.

    Each score drops some of the rows that the earlier scores left, corpus by corpus.
    """

    bicleaner: Score | None = None
    """Probability from bicleaner-ai that the sides are translations of each other; for parallel and for distilled
    text. A common `threshold` is 0.5. It needs an environment of its own, which the run makes if this key is used."""
    language_model_source: Score | None = None
    """Bits per word of the source side under a KenLM language model. Monolingual text gets a score for its missing
    side only after its translation."""
    language_model_target: Score | None = None
    """Bits per word of the target side; WMT21 dropped 5 % of the distilled pairs by it."""
    lexical_translation: Score | None = None
    """Gain in probability of the words of one side by those of the other: nats per word, the worse of both
    directions; 0 if neither side explains the other. Its former version was the best single score
    [on 857 labelled pairs](../docs/results/multi30k/filters.md)."""
    reverse_model: WeightedScore | None = None
    """Mean log probability of the source's pieces given the target, from a model of the reverse direction
    (WNGT20)."""
    combined: Score | None = None
    """Log odds of a good pair, from a logistic regression that is fitted to `evaluation.labelled`. Its inputs are all
    scores for which `scoring` has models (always the language models), lengths, letters, numbers and ends of
    sentences. With some hundred labelled pairs of a corpus it is the best filter."""


@section
class LanguageId:
    """Language identification of both sides by fastText."""

    model: Place
    """Path or `https://` address of a fastText model; or `tatoeba`, a model for the demo, trained on embedded
    sentences in English, German, French and Dutch."""
    sha256: Sha256 | None = None
    """Checksum of the model; an address needs one."""
    min_probability: Share = 0.0
    """Smallest probability of the language. With 0 the language only has to be the most likely one, and long lines
    are judged by their ends."""
    min_letters: Amount = 10
    """Lines with fewer letters are not identified: only the rules judge their script. A Chinese letter counts as 3,
    kana as 1.5, Hangul as 2.3."""
    accept_similar: bool = True
    """Accept languages that identifiers confuse with that of the side: Bosnian, Croatian, Montenegrin and Serbian;
    Indonesian and Malay; Danish and both kinds of Norwegian; Galician and Portuguese; and what a variant belongs to,
    such as Chinese for `yue` or Arabic for `arz`. The language of the other side is never accepted, and variants such
    as Cantonese for `zh` always are."""
    accept: Annotated[tuple[Language, ...], Unique()] = ()
    """Further languages that are accepted, such as `[es]` for text in `gl`."""


@section
class Cleaning:
    """Settings of the cleaning of corpora."""

    shard_rows: Annotated[int, Ge(1000)] = 100_000
    """Rows in one shard of a corpus."""
    punctuation: Punctuation | None = None
    """`moses` makes typographic quotes, dashes and spaces around punctuation ASCII's, as Moses' script does; `keep`
    leaves them. By default `keep` on a side in Chinese, Japanese or Korean, else `moses`.
    Translators and exports of the models do the same to their input."""
    rules: Rules = Rules()
    """Thresholds of the rules: pairs that break one are dropped, and so are pairs with empty or equal sides."""
    language_id: LanguageId | None = None
    """Language identification of both sides by fastText; without this key there is none."""
    near_duplicates: bool = True
    """Drop pairs that repeat an earlier one except for case, punctuation and spaces."""
    remove_test_overlap: bool = True
    """Drop training pairs that share a side with a test set or the validation set."""
    scores: Scores = Scores()
    """Scores of the rows that the rules keep, each a column of `corpora/NAME/selected`. The vocabulary, the teacher
    and all later stages leave out the rows that a score drops."""


@section
class ScoredText:
    """Scores of translated text."""

    scores: Scores = Scores()
    """Scores of the text that the reverse teacher translates, with its translation. Dropped rows are neither learnt
    nor translated forward again."""


# The keys of overrides are optional, and have no sentences of their own: the keys that they override have them.
CorpusRules = make_dataclass(
    "CorpusRules",
    [(key, hint | None, None) for key, hint in get_type_hints(Rules, include_extras=True).items()],
    bases=(Rules,),
    namespace={"__doc__": "Rules of one corpus: the keys of `cleaning.rules` that it overrides."},
    frozen=True,
)


@section
class CorpusScore:
    """Cut of a score in one corpus, which replaces the experiment's whole cut."""

    cut: Cut


CorpusScores = make_dataclass(
    "CorpusScores",
    [(score.name, CorpusScore | None, None) for score in fields(Scores)],
    namespace={"__doc__": "Cuts of one corpus."},
    frozen=True,
)


@section
class CorpusLanguageId:
    """Language identification of one corpus."""

    min_probability: Share | None = None
    min_letters: Amount | None = None
    accept_similar: bool | None = None
    accept: Annotated[tuple[Language, ...], Unique()] | None = None


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
