"""A training on a small grammar, which the tests of this folder vary."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest

from tests.translation.conftest import small_architecture
from weebill.translation.training.trainer import TrainingConfig, new_network, train
from weebill.translation.training.validation import GreedyValidation

CONFIG = TrainingConfig(
    batch_tokens=300, updates=30, learning_rate=0.01, warmup=10, validate_every=10, patience=0,
    checkpoint_every=4, smoothing=0.01, dropout=0.1,
)  # fmt: skip


def run(corpus, vocabulary, work, config=CONFIG, rising=True, **options):
    """Train the small network; rising: keep the weights of the last validation, as if it were the best."""
    network = new_network(small_architecture(len(vocabulary)), seed=1, dropout=config.dropout)
    data = [corpus], corpus.with_name("validation.parquet"), vocabulary, config
    with rising_scores() if rising else nullcontext():
        return network, train(network, *data, seed=5, work=work, **options)


@contextmanager
def rising_scores() -> Iterator[None]:
    """Add the update to the BLEU of each validation: after few updates all have 0, and the first would be best."""
    bleu = GreedyValidation._bleu

    def raised(self, network, update):
        return bleu(self, network, update) + update

    with pytest.MonkeyPatch.context() as change:
        change.setattr(GreedyValidation, "_bleu", raised)
        yield
