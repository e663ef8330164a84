"""Choice of the sources that training does not see, by their text alone."""

from weebill.files import sha256_text


def is_held_out(source: str, share: float) -> bool:
    """Return True if a source belongs to validation's share."""
    return int(sha256_text(source)[:12], 16) < share * 16**12
