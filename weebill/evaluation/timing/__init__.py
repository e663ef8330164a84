"""Timing of models, metrics and opponents, which are measured in turn."""
