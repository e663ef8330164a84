"""Rehearsal of an experiment: its miniature, the stand-ins that the miniature reads, and the rules that it runs."""
