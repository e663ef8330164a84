"""Learned metrics of translation quality: COMET models are read, run fast and compared with human judgements."""
