"""JSON from files and clients: every fault in it is a ValueError."""

import json
from typing import Any


def parse_json(text: str | bytes, **options: Any) -> Any:
    """Return the value that a JSON text holds; options: those of `json.loads`.

    Raises ValueError for any other text, also if `json` would raise RecursionError.
    """
    try:
        return json.loads(text, **options)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValueError as error:
        if "integer string conversion" in str(error):  # its advice is for programmers
            raise ValueError("a number of thousands of digits") from error
        raise
