"""Export to ONNX, and search with the exported graphs."""
