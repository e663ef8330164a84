"""Finished students in the formats of other engines."""
