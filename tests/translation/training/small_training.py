"""A training on a small grammar, which the tests of this folder vary."""

from tests.translation.conftest import small_architecture
from weebill.translation.training.trainer import TrainingConfig, new_network, train

CONFIG = TrainingConfig(
    batch_tokens=300, updates=30, learning_rate=0.01, warmup=10, validate_every=10, patience=0,
    checkpoint_every=4, smoothing=0.01, dropout=0.1,
)  # fmt: skip


def run(corpus, vocabulary, work, config=CONFIG, **options):
    network = new_network(small_architecture(len(vocabulary)), seed=1, dropout=config.dropout)
    validation = corpus.with_name("validation.parquet")
    result = train(network, [corpus], validation, vocabulary, config, seed=5, work=work, **options)
    return network, result
