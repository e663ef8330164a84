"""Models that generate text, measured: ROUGE, perplexity, time and size."""
