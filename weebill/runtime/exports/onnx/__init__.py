"""Export to ONNX graphs in float32: an encoder, and one step of the decoder."""

from weebill.runtime.exports.onnx.exporting import export
from weebill.runtime.exports.onnx.search import OnnxStudent

__all__ = ["OnnxStudent", "export"]
