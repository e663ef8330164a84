"""Cleaning of corpora: the text is normalised, and each rejected row gets the name of the filter that rejected it."""
