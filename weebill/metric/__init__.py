"""Learned metrics of translation quality: reading, fast scoring, training and evaluation of COMET models."""
