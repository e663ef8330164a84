"""Types of command-line arguments."""

import argparse


def positive(text: str) -> int:
    """Parse a whole number of at least 1; raise ArgumentTypeError for any other text."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"found '{text}', expected a whole number of at least 1")
    return number
