"""Hugging Face's models as pruning sees them, and their folders with per-layer shapes."""
