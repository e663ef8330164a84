"""Settings of the text that students learn: the teacher's translations, and changed copies of rows."""

from dataclasses import field
from typing import Annotated, Literal

from weebill.configuration.sections.scores import Scores
from weebill.settings import Count, Ge, Le, MinLen, Name, Share, Unique, section

KindOfText = Literal["parallel", "forward", "backward", "backward-forward"]
Precision = Literal["auto", "float32", "bfloat16"]


@section
class Augmentation:
    """Changed copies of rows, which make students robust as OpusTrainer's modifiers do (Bogoychev et al. 2023)."""

    upper_case: Share = 0.0
    """Share of the rows of which a copy in CAPITALS is added, both sides."""
    title_case: Share = 0.0
    """Share with a Capital Letter at the Beginning of Every Word, both sides."""
    typos: Share = 0.0
    """Share with typos in the source, in a tenth of its words and at least one: two letters swapped, one left out,
    one twice, or that of a neighbouring key (QWERTY; German, French and Russian have their own keyboards; other
    letters have no neighbours)."""
    merged: Share = 0.0
    """Share that is joined with the next row of its corpus to one, as users forget line breaks."""
    placeholders: Share = 0.0
    """Share with a token to be copied, the same on both sides: a number, a web or mail address, or a tag such as
    `{3}`."""
    max_merged_words: Annotated[int, Ge(2)] = 100
    """Most words on a side of rows that are joined."""


@section
class Distillation:
    """How the teacher translates, and the reverse teacher, whose text is all monolingual."""

    beam: Count = 8
    """Hypotheses for parallel text; the one nearest to the reference is taken."""
    monolingual_beam: Count = 4
    """Beam for monolingual text; the best hypothesis is taken."""
    shards: Count = 1
    """Parts of each corpus, translated as jobs of their own."""
    length_normalisation: Annotated[float, Ge(0), Le(10)] = 1.0
    """Scores are divided by the length to this power."""
    max_source_tokens: Count = 200
    """Longest source, in pieces; longer sentences are cut off, and the log of each shard tells how many were."""
    precision: Precision = "auto"
    """Type of the linear layers' products: `float32`; `bfloat16`, faster on processors that multiply it (AVX-512
    BF16), the same BLEU within 0.1 on Multi30k; `auto` takes the latter there, and `float32` elsewhere and on
    GPUs."""
    min_teacher_bleu: Annotated[float, Ge(0), Le(100)] = 1.0
    """BLEU on the validation set, 0 to 100, that each member of the teacher and of the reverse teacher must reach, or
    the run stops before it translates: students learn nothing from a teacher that hardly translates. It is what the
    member's training recorded; a Hugging Face model translates the first 200 sentences for it. 0 measures nothing and
    goes on. A teacher is checked once, when it is there or has changed."""
    scores: Scores = Scores()
    """Scores of source and translation."""
    training_texts: dict[Name, Annotated[tuple[KindOfText, ...], MinLen(1), Unique()]] = field(
        default_factory=dict
    )
    """Texts that students learn: a name for each text, and the kinds of text of which it is made. Students that name
    no text learn the first; without this key it is everything that there is."""
    augmentation: Augmentation | None = None
    """Changed copies of rows that are added to every training text of students; without this key there are none."""
