"""Export to and import from Marian: its `transformer` type with SSRU or self-attention decoders.

Marian's LayerNorm adds 1e-6 to the variance, ours 1e-5, so figures differ in the sixth digit where values are of
order 1; all else is the same arithmetic.
"""

from weebill.runtime.exports.marian.exporting import export
from weebill.runtime.exports.marian.importing import import_model, read

__all__ = ["export", "import_model", "read"]
