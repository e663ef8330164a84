"""Recognition of model folders of the library transformers, without importing it."""

from pathlib import Path

from weebill.replaceable import has_keys


def is_hugging_face(path: str | Path) -> bool:
    """Return True if config.json belongs to a transformers model."""
    config = Path(path) / "config.json"
    return config.is_file() and has_keys(config, {"model_type"})
