"""The stream of sentence pairs: distinct, deterministic in its seed, with labelled noise."""

import zlib
from collections.abc import Iterator

from weebill.corpus.synthetic.lexicon import lexicon
from weebill.corpus.synthetic.noise import NoiseMaker
from weebill.corpus.synthetic.sentences import SentenceMaker
from weebill.errors import InputError

MAX_PAIRS = 100_000_000


class SeenSentences:
    """Which sentences stood already, in 32 to 64 bits a sentence, 512 MiB at most.

    A bitmap over checksums: two sentences may share a bit, which only costs a sentence that was new;
    a repeated one never passes.
    """

    def __init__(self, sentences: int) -> None:
        bits = max(1 << 20, 1 << (32 * sentences - 1).bit_length())
        self.mask = min(bits, 1 << 32) - 1
        self.bitmap = bytearray((self.mask + 1) // 8)

    def add(self, sentence: str) -> bool:
        """Whether the sentence is new, letter case and closing mark aside; from now on it is not."""
        position = zlib.crc32(sentence[:-1].lower().encode("utf-8")) & self.mask
        byte, bit = position >> 3, 1 << (position & 7)
        if self.bitmap[byte] & bit:
            return False
        self.bitmap[byte] |= bit
        return True


def generate(pairs: int, seed: int, noise: float = 0.0) -> Iterator[dict[str, str | None]]:
    """`pairs` English-German rows {"source", "target", "noise"}, `noise` of them damaged.

    noise: the share of damaged rows, 0 to 1, divided evenly over `noise.NOISE_TYPES`; a row's "noise"
    is its type, or None.  No English sentence stands twice but in near-duplicates.  Equal arguments give equal rows.
    Raises InputError where `pairs` or `noise` is out of range.
    """
    if not 0 <= pairs <= MAX_PAIRS:
        raise InputError(f"synthetic: pairs: {pairs} is not between 0 and {MAX_PAIRS}")
    if not 0.0 <= noise <= 1.0:
        raise InputError(f"synthetic: noise: {noise} is not a share between 0 and 1")
    return _rows(pairs, seed, noise)


def _rows(pairs: int, seed: int, noise: float) -> Iterator[dict[str, str | None]]:
    # The project's former name stays in the seeds: another would draw other text.
    maker = SentenceMaker(lexicon(), f"goldcrest/{seed}/grammar")
    seen = SeenSentences(round(pairs * (1 + noise)))

    def fresh() -> tuple[str, str]:
        while True:
            pair = maker.pair()
            if seen.add(pair[0]):
                return pair

    damage = NoiseMaker(f"goldcrest/{seed}/noise", fresh)
    noisy_left = round(pairs * noise)
    for row in range(pairs):
        # Of the rows that are left, as many are damaged as keeps the total exact.
        if damage.dice.random() * (pairs - row) < noisy_left:
            noisy_left -= 1
            kind = damage.next_type()
            source, target = damage.damage(kind)
            yield {"source": source, "target": target, "noise": kind}
        else:
            source, target = pair = fresh()
            damage.remember(pair)
            yield {"source": source, "target": target, "noise": None}
