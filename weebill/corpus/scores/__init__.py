"""Scores of kept rows: `scoring` writes a table of each, and `selection` joins them and drops the worst rows."""
