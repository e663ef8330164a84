"""The scores that a corpus may have, in the order in which they drop rows."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """column: its name in tables.  sides: what it reads.  higher_is_better: which end is the good one."""

    column: str
    sides: tuple[str, ...]
    higher_is_better: bool
    unit: str


# By the name that configuration and `dropped_by` use.  bicleaner-ai: Zaragoza-Bernabeu et al. 2022;
# language models: WMT21 §2; reverse model: WNGT20 §3.
# The combined score is of those before it.
SCORES = {
    "bicleaner": Score("bicleaner_probability", ("source", "target"), True, "probability"),
    "language_model_source": Score("cross_entropy_source", ("source",), False, "bits per word"),
    "language_model_target": Score("cross_entropy_target", ("target",), False, "bits per word"),
    "lexical_translation": Score(
        "lexical_log_probability", ("source", "target"), True, "nats per word"
    ),
    "reverse_model": Score("reverse_log_probability", ("source", "target"), True, "nats per piece"),
    "combined": Score("combined_score", ("source", "target"), True, "log odds of a good pair"),
}
