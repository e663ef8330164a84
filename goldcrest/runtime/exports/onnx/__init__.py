"""Students as ONNX graphs in float32: an encoder, and one step of the decoder."""

from goldcrest.runtime.exports.onnx.exporting import export
from goldcrest.runtime.exports.onnx.search import OnnxStudent

__all__ = ["OnnxStudent", "export"]
