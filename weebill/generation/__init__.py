"""Models that generate text: fine-tuned, distilled, pruned and quantized (TEXTGEN)."""
