"""Cleaning of corpora: normalised text, and for every rejected row the filter that rejected it."""
