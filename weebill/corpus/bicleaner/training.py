"""Training of a lite bicleaner-ai classifier without internet access, in bicleaner's environment."""

import logging
import os
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from weebill.errors import InputError
from weebill.files import atomic_folder
from weebill.replaceable import FolderKind
from weebill.text_files import LONGEST_RECORD, read_lines

log = logging.getLogger(__name__)

# Decomposable attention (Parikh et al. 2016), bicleaner-ai's lite kind.
CLASSIFIER = "dec_attention"
MODEL = FolderKind(always=("metadata.yaml", "model.h5", "spm.model", "spm.vocab"))
# Samples made from each pair: the pair itself, its target with another source (twice), and the pair with missing
# words.  bicleaner-ai can also replace words by others of the same frequency, but that takes longer than training.
NOISE = {"pos_ratio": 1, "rand_ratio": 2, "womit_ratio": 1, "freq_ratio": 0, "fuzzy_ratio": 0}
NOISE |= {"tl_word_freqs": None, "min_omit_words": 1, "min_freq_words": 1, "neighbour_mix": False}
# Filters that only full models have.
UNUSED = dict.fromkeys(("porn_removal_file", "porn_removal_train", "lm_file_sl", "lm_file_tl"))
# bicleaner-ai's names of our settings.
SETTINGS = {
    "vocabulary": "vocab_size",
    "max_pieces": "maxlen",
    "embedding": "emb_dim",
    "hidden": "n_hidden",
    "epochs": "epochs",
    "patience": "patience",
    "batch_size": "batch_size",
}


def train(
    pairs: str | Path,
    output: str | Path,
    languages: tuple[str, str],
    settings: Mapping[str, int],
    seed: int,
) -> None:
    """Write the model folder `output`, trained on `training.tsv` and `validation.tsv` of the folder `pairs`.

    settings: all of SETTINGS, by our names.  Training runs on one thread; equal text and seed give equal models.
    Raises InputError if there is too little text for the vocabulary.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # only errors of TensorFlow
    from bicleaner_ai.training import write_metadata
    from bicleaner_ai.util import get_model

    _make_repeatable(seed)
    pairs = Path(pairs).resolve()
    # Training runs inside the folder, because the vocabulary file contains its own path.
    with atomic_folder(output, MODEL) as made, chdir(made), TemporaryDirectory(dir=".") as work:
        samples = {name: Path(work, f"{name}.tsv") for name in ("training", "validation")}
        for path in samples.values():
            _write_samples(pairs / path.name, path, languages[1])
        theirs = {name: settings[ours] for ours, name in SETTINGS.items()}
        theirs["model_name"] = f"weebill-lite-{'-'.join(languages)}"
        classifier = get_model(CLASSIFIER)(".", theirs)
        _train_vocabulary(classifier, pairs / "training.tsv", Path(work, "sides.txt"))
        with _without_progress():
            truth, found = classifier.train(*map(str, samples.values()))
        right = 100 * (truth == found.ravel()).mean()
        log.info("%.1f %% of the validation set's samples are told right", right)
        about = Namespace(model_dir=".", classifier_type=CLASSIFIER, **UNUSED)
        about.source_lang, about.target_lang = languages
        with open("metadata.yaml", "w", encoding="utf-8") as about.metadata:
            write_metadata(about, classifier, truth, found, None)
        Path("glove.vectors").unlink()  # a pickle that is read only in training


def _write_samples(pairs: Path, output: Path, target_language: str) -> None:
    """Write each pair with the label 1, and its damaged forms with the label 0.

    This process writes them, because processes that bicleaner-ai starts would use new seeds.
    """
    from bicleaner_ai.noise_generation import sentence_noise
    from bicleaner_ai.tokenizer import Tokenizer

    tokenizer = Tokenizer.get_tokenizer("word", target_language)
    noise = Namespace(**NOISE)
    sources, targets = zip(
        *(line.split("\t") for line in read_lines(pairs, LONGEST_RECORD)), strict=True
    )
    with output.open("w", encoding="utf-8", newline="") as file:
        for row in range(len(sources)):
            lines = sentence_noise(row, sources, targets, noise, tokenizer)
            file.writelines(f"{line}\n" for line in lines)


def _train_vocabulary(classifier: Any, pairs: Path, sides: Path) -> None:
    """Train the vocabulary and its embeddings on both sides, which pass through the file `sides`."""
    with sides.open("w", encoding="utf-8", newline="") as file:
        file.writelines(
            line.replace("\t", "\n") + "\n" for line in read_lines(pairs, LONGEST_RECORD)
        )
    with sides.open(encoding="utf-8", newline="\n") as lines:
        try:
            classifier.train_vocab(lines, 1)
        except RuntimeError as error:  # SentencePiece raises it
            said = " ".join(str(error).split())
            raise InputError(
                f"{pairs}: the vocabulary of bicleaner cannot be trained ({said}); "
                "lower scoring.bicleaner.training.vocabulary"
            ) from error


def _make_repeatable(seed: int) -> None:
    """Seed all random generators, and fix the order of TensorFlow's sums."""
    import tensorflow as tf  # after bicleaner_ai, which selects the Keras version

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.experimental.enable_op_determinism()
    tf.keras.utils.set_random_seed(seed)  # seeds Python, numpy, TensorFlow and Keras


@contextmanager
def _without_progress() -> Iterator[None]:
    """Keep Keras' progress bars out of the log within the context."""
    logging.getLogger().setLevel(logging.WARNING)
    try:
        yield
    finally:
        logging.getLogger().setLevel(logging.INFO)
