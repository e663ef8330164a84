"""Timing of models, metrics and opponents: several things in turn."""
