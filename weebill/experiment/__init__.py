"""Names and shapes of the parts of an experiment: variants, precisions, recipes, texts, zoo; never imports torch."""
