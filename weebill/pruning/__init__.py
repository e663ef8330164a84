"""Pruning for every model family: the choice of heads and neurons to remove, and their removal."""
