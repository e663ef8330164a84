"""Time to encode training text, and to train what is made of text: vocabularies, language models, alignments.

Rates are those of one thread of a busy machine with two cores.
"""

from weebill.configuration.cost import SIDE_BYTES, Work
from weebill.configuration.estimates import language_model_text, trained_text
from weebill.experiment.scores import asked_for

# Bytes of text a second.
ENCODED = 5_000_000  # measured: 7,000,000 without the writing of files
DRAWN_VOCABULARY = 530_000
LANGUAGE_MODEL = 640_000
SAMPLE = 2_000_000  # most sentences that a vocabulary is trained on
ALIGNED = 800.0  # pairs a second, by two threads: a million takes twenty minutes of one


def encoding(work: Work) -> float:
    """Return the seconds of one thread that encode the text of all trainings as pieces, each text once."""
    return sum(trained_text(work)) / ENCODED


def seconds(work: Work) -> float:
    """Return the seconds of one thread that train vocabularies, language models and alignments."""
    config = work.config
    parallel, distilled = trained_text(work)
    drawn = min(parallel or distilled, SAMPLE * SIDE_BYTES)
    pairs = sum(size.rows or 0 for size in work.corpora if not size.monolingual)
    learnt = distilled / (2 * SIDE_BYTES)  # pairs
    aligned = min(learnt, config["shortlist"]["pairs"]) if "shortlist" in config else 0.0
    if "lexical_translation" in asked_for(config):
        aligned += min(pairs, config["scoring"]["lexical_translation"]["pairs"])
    if config["training"]["guided_alignment"]:
        aligned += learnt
    return (
        drawn / DRAWN_VOCABULARY
        + language_model_text(config, work.corpora) / LANGUAGE_MODEL
        + aligned / ALIGNED
    )
