"""What the parts of an experiment are called and shaped: variants, precisions, recipes, texts, zoo; free of torch."""
