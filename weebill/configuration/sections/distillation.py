"""Settings of the students' training text: the teacher's translations, and changed copies of rows."""

from dataclasses import field
from typing import Annotated, Literal

from weebill.configuration.sections.scores import Scores
from weebill.settings import Count, Ge, Le, MinLen, Name, Share, Unique, section

KindOfText = Literal["parallel", "forward", "backward", "backward-forward"]
Precision = Literal["auto", "float32", "bfloat16"]


@section
class Augmentation:
    """Changed copies of rows, which make students robust, like OpusTrainer's modifiers (Bogoychev et al. 2023)."""

    upper_case: Share = 0.0
    """Share of the rows that get a copy in CAPITALS, both sides."""
    title_case: Share = 0.0
    """Share of the rows that get a copy with a Capital Letter at the Beginning of Every Word, both sides."""
    typos: Share = 0.0
    """Share of the rows that get a copy with typos in the source, in a tenth of its words and at least one: two
    letters swapped, one left out, one doubled, or one replaced by a neighbouring key (QWERTY; German, French and
    Russian have their own keyboards; other letters have no neighbours)."""
    merged: Share = 0.0
    """Share of the rows that get a copy joined with the next row of the corpus, because users forget line breaks."""
    placeholders: Share = 0.0
    """Share of the rows that get a copy with the same extra token on both sides, which the student learns to copy: a
    number, a web or mail address, or a tag such as `{3}`."""
    max_merged_words: Annotated[int, Ge(2)] = 100
    """Largest number of words on a side of joined rows."""


@section
class Distillation:
    """Settings of the translation by the teacher and by the reverse teacher, whose text is all monolingual."""

    beam: Count = 8
    """Hypotheses for parallel text; the one nearest to the reference is chosen."""
    monolingual_beam: Count = 4
    """Beam for monolingual text; the best hypothesis is chosen."""
    shards: Count = 1
    """Parts of each corpus; each part is translated by a separate job."""
    length_normalisation: Annotated[float, Ge(0), Le(10)] = 1.0
    """Exponent of the length by which scores are divided."""
    max_source_tokens: Count = 200
    """Longest source, in pieces; longer sentences are cut off, and the log of each shard counts them."""
    precision: Precision = "auto"
    """Type of the linear layers' products: `float32`; `bfloat16`, which is faster on processors with AVX-512 BF16 and
    has the same BLEU within 0.1 on Multi30k; `auto` is `bfloat16` on such processors, and `float32` on others and on
    GPUs."""
    min_teacher_bleu: Annotated[float, Ge(0), Le(100)] = 1.0
    """Smallest BLEU on the validation set, 0 to 100, of each member of the teacher and of the reverse teacher. With
    less, the run stops before it translates, because students learn nothing from a teacher that hardly translates.
    The value is the one that the member's training recorded; a Hugging Face model translates the first 200 sentences
    for it. 0 skips the check. A teacher is checked once, when it is new or has changed."""
    scores: Scores = Scores()
    """Scores of source and translation."""
    training_texts: dict[Name, Annotated[tuple[KindOfText, ...], MinLen(1), Unique()]] = field(
        default_factory=dict
    )
    """Texts that students learn: a name for each text, and the kinds of text that it consists of. Students that name
    no text learn the first; without this key they learn all text."""
    augmentation: Augmentation | None = None
    """Changed copies of rows that are added to every training text of students; without this key there are none."""
