"""Sizes of models and metrics."""
