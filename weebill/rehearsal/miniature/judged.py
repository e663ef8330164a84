"""Stand-in judgements of translations: systems that shorten the reference, and scores that fall with it."""

from collections.abc import Sequence

from weebill.rehearsal.miniature.stand_ins import StandIns

HEADING = ("system", "seg_id", "lp", "source", "reference", "hypothesis")
SYSTEMS = ("system-A", "system-B", "system-C", "refB")  # the last is a person
SEGMENTS = 12
FULL_SCORE = 100.0  # differences of 25 count in `darr`


def judged_lines(
    score: str, languages: tuple[str, str], stand_ins: StandIns, references: bool = True
) -> list[str]:
    """Return the lines of a table of judgements, with its headings; score: the column of scores."""
    lines = ["\t".join((*HEADING, score))]
    segments = stand_ins.pairs(languages, SEGMENTS)
    spoken = [reference for _, reference in segments]
    for number, system in enumerate(SYSTEMS):
        for place, hypothesis in enumerate(system_lines(spoken, number)):
            source, reference = segments[place]
            kept = len(hypothesis) / len(reference)
            cells = (
                system,
                str(place),
                "-".join(languages),
                source,
                reference * references,
                hypothesis,
            )
            lines.append("\t".join((*cells, f"{kept * FULL_SCORE - place % 3:.2f}")))
    return lines


def system_lines(references: Sequence[str], number: int) -> list[str]:
    """Return a system's translations: the references, from which worse systems drop more at the end."""
    return [
        text[: max(1, len(text) - (number * (1 + place % 3)) * len(text) // 12)]
        for place, text in enumerate(references)
    ]


def scores_of(count: int) -> list[str]:
    """Return scores of another metric for `count` rows, one per line."""
    return [f"{(number * 7) % 11 / 11:.3f}" for number in range(count)]
