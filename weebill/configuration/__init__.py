"""Configurations of experiments: strict reading, checks of the whole, defaults, and estimates of cost."""
