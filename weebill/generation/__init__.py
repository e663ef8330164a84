"""Models that generate text, made small: fine-tuned, distilled, pruned and quantized (TEXTGEN)."""
