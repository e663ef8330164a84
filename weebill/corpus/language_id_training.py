"""Training of a small language identifier for the demo, on embedded sentences of Tatoeba.

It knows only short sentences in four languages.  For other text, use fastText's lid.176, which has the same format.

fastText itself only builds the dictionary.  With fewer than ten threads it leaves most of a model's initial weights
uninitialised, and with several threads its training is not repeatable.  So this module trains the weights itself, by
softmax regression on fastText's features.
"""

import tempfile
from pathlib import Path

import fasttext
import numpy as np
from scipy.sparse import csr_matrix

from weebill.corpus.tatoeba import LANGUAGES, read_sentences
from weebill.files import atomic_path

STEPS = 80
LEARNING_RATE = 3.0
DECAY = 1e-7  # weight decay, so that single rare n-grams do not decide


def train_identifier(path: str | Path, given: list[tuple[str, str]] | None = None) -> None:
    """Train an identifier, repeatably, and write it to `path` atomically (fastText's binary format, below 1 MB).

    given: pairs of language and sentence, by default the embedded ones.
    The features are words that occur at least five times and character n-grams of 1 to 4 in 4,000 buckets.
    """
    rows = given or [
        (language, text) for language in LANGUAGES for text in read_sentences(language)
    ]
    model = untrained_model(rows)
    labels = [label.removeprefix("__label__") for label in model.get_labels()]
    features = feature_matrix(model, [sentence for _, sentence in rows])
    truth = np.eye(len(labels))[[labels.index(language) for language, _ in rows]]
    weights = softmax_regression(features, truth)
    # fastText averages the rows of a sentence's features; with the identity as output matrix, these are the logits.
    model.set_matrices(weights.astype(np.float32), np.eye(len(labels), dtype=np.float32))
    with atomic_path(path) as partial:
        model.save_model(str(partial))


def untrained_model(rows: list[tuple[str, str]]) -> "fasttext.FastText._FastText":
    """Make an untrained model with the dictionary of the sentences and one dimension per language."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "sentences.txt"
        lines = (f"__label__{language} {sentence}\n" for language, sentence in rows)
        text.write_text("".join(lines), encoding="utf-8")
        sizes = {
            "dim": len({language for language, _ in rows}),
            "bucket": 4000,
            "minn": 1,
            "maxn": 4,
            "minCount": 5,
        }
        return fasttext.train_supervised(str(text), **sizes, epoch=0, thread=12, verbose=0)


def feature_matrix(model: "fasttext.FastText._FastText", sentences: list[str]) -> csr_matrix:
    """Return the share of each word and n-gram in each sentence, (sentences, features), as fastText counts them."""
    of_word: dict[str, np.ndarray] = {}
    columns, starts = [], [0]
    for sentence in sentences:
        words = (*sentence.split(), "</s>")
        for word in words:
            if word not in of_word:
                of_word[word] = model.get_subwords(word)[1]
        found = [of_word[word] for word in words]
        columns += found
        starts.append(starts[-1] + sum(map(len, found)))
    lengths = np.diff(starts)
    shape = (len(sentences), model.get_input_matrix().shape[0])
    values = np.repeat(1.0 / lengths, lengths)
    return csr_matrix((values, np.concatenate(columns), np.array(starts)), shape=shape)


def softmax_regression(features: csr_matrix, truth: np.ndarray) -> np.ndarray:
    """Return weights (features, classes) that minimise the cross-entropy, by full-batch Adam from zero; repeatable.

    features: (rows, features).  truth: (rows, classes), one-hot.
    """
    weights = np.zeros((features.shape[1], truth.shape[1]))
    momentum, square = np.zeros_like(weights), np.zeros_like(weights)
    transposed = features.T.tocsr()
    for step in range(1, STEPS + 1):
        logits = features @ weights  # (rows, classes)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        error = odds / odds.sum(axis=1, keepdims=True) - truth
        gradient = transposed @ error / len(truth) + DECAY * weights
        momentum = 0.9 * momentum + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        scaled = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        weights -= LEARNING_RATE * momentum / (1 - 0.9**step) / scaled
    return weights
