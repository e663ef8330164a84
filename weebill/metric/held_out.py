"""Which sources are kept from training, wherever they stand: a matter of their text alone."""

from weebill.files import sha256_text


def is_held_out(source: str, share: float) -> bool:
    """Whether a source belongs to the share that validation has."""
    return int(sha256_text(source)[:12], 16) < share * 16**12
