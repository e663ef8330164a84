"""Evaluation of models and metrics: quality, sizes and times."""
