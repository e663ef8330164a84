"""Engine of Weebill: translation by small models on the processor, without PyTorch."""

from weebill_runtime.engines import available, engine, has_bfloat16

__version__ = "0.1.0"  # that of weebill
__all__ = ["available", "engine", "has_bfloat16"]
