"""Marian's models, vocabularies and shortlists."""
