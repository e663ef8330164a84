"""Prunable views of Hugging Face models, and model folders with per-layer shapes."""
