"""Export to ONNX, and steps of a search with the exported graphs."""
