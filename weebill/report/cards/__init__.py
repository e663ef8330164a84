"""Model cards: what a model is, what it was made of and under which licences, how good, large and fast it is."""
