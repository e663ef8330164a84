"""Base class of all measured figures, which are an object of a JSON file."""

from dataclasses import asdict
from typing import Any


class Record:
    """Base of frozen dataclasses that are written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, ready for JSON."""
        return asdict(self)
