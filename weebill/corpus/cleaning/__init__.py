"""Cleaning of corpora: it normalises the text and names the filter that rejected each rejected row."""
