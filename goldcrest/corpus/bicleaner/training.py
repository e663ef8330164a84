"""Training of a lite bicleaner-ai classifier without a network; this runs in bicleaner's environment."""

import logging
import os
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from goldcrest.errors import InputError
from goldcrest.files import atomic_folder

log = logging.getLogger(__name__)

CLASSIFIER = (
    "dec_attention"  # decomposable attention (Parikh et al. 2016), bicleaner-ai's lite kind
)
# Of each pair: the pair, twice the target with another source, once with words left out.  Replacing words by others
# of the same frequency, a further kind of bicleaner-ai, takes longer than the training.
NOISE = {"pos_ratio": 1, "rand_ratio": 2, "womit_ratio": 1, "freq_ratio": 0, "fuzzy_ratio": 0}
# Our words for the settings of bicleaner-ai.
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

    settings: by the names of SETTINGS, all of them.  On one thread, so that equal text and seed give equal models.
    Raises InputError where there is too little text for the vocabulary.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # TensorFlow's errors alone
    from bicleaner_ai.noise_generation import build_noise
    from bicleaner_ai.training import write_metadata
    from bicleaner_ai.util import get_model

    _make_repeatable(seed)
    files = {name: Path(pairs) / f"{name}.tsv" for name in ("training", "validation")}
    with atomic_folder(output) as made, _temporary_files(made / "work") as work:
        noise = Namespace(
            **NOISE,
            processes=1,
            block_size=2000,
            target_tokenizer_type="word",
            target_lang=languages[1],
            tl_word_freqs=None,
            min_omit_words=1,
            min_freq_words=1,
            neighbour_mix=False,
        )
        labelled = {}
        for name, path in files.items():
            with path.open(encoding="utf-8", newline="\n") as lines:
                labelled[name] = build_noise(lines, noise)
        sides = work / "sides.txt"
        with files["training"].open(encoding="utf-8", newline="\n") as lines:
            text = "".join(line.replace("\t", "\n") for line in lines)
        sides.write_text(text, encoding="utf-8", newline="")

        theirs = {name: settings[ours] for ours, name in SETTINGS.items()}
        theirs["model_name"] = f"goldcrest-lite-{'-'.join(languages)}"
        classifier = get_model(CLASSIFIER)(str(made), theirs)
        with sides.open(encoding="utf-8", newline="\n") as lines:
            try:
                classifier.train_vocab(lines, 1)
            except RuntimeError as error:  # SentencePiece's
                said = " ".join(str(error).split())
                raise InputError(
                    f"{files['training']}: the vocabulary of bicleaner cannot be trained ({said}); "
                    "lower scoring.bicleaner.training.vocabulary"
                ) from error
        with _without_progress():
            truth, found = classifier.train(labelled["training"], labelled["validation"])
        log.info(
            "%.1f %% of the validation set's samples are told right",
            100 * (truth == found.ravel()).mean(),
        )
        with (made / "metadata.yaml").open("w", encoding="utf-8") as file:
            about = Namespace(
                metadata=file,
                model_dir=str(made),
                source_lang=languages[0],
                target_lang=languages[1],
                classifier_type=CLASSIFIER,
                porn_removal_file=None,
                porn_removal_train=None,
                lm_file_sl=None,
                lm_file_tl=None,
            )
            write_metadata(about, classifier, truth, found, None)
        (made / "glove.vectors").unlink()  # a pickle, read by nothing but the training


def _make_repeatable(seed: int) -> None:
    """Seed all that draws, and make TensorFlow's sums come in one order."""
    import tensorflow as tf  # after bicleaner_ai, which chooses its Keras

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.experimental.enable_op_determinism()
    tf.keras.utils.set_random_seed(seed)  # Python's, numpy's, TensorFlow's and Keras' own


@contextmanager
def _without_progress() -> Iterator[None]:
    """While the block lasts, Keras draws no bars into the log."""
    logging.getLogger().setLevel(logging.WARNING)
    try:
        yield
    finally:
        logging.getLogger().setLevel(logging.INFO)


@contextmanager
def _temporary_files(folder: Path) -> Iterator[Path]:
    """A folder that stands, and takes the files of `tempfile`, until the block ends."""
    folder.mkdir()
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
        shutil.rmtree(folder)
