"""Configurations of experiments: strict reading, checks, defaults, and estimates of cost."""
