"""Learned metrics of translation quality: COMET models, read, run fast, and held against human judgement."""
