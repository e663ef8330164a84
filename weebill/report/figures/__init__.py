"""Figures of all measurements."""
