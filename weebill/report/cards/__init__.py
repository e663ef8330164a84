"""Model cards: purpose, origins and licences, quality, size and speed of a model."""
