"""Markdown pages with an experiment's tables and figures."""
