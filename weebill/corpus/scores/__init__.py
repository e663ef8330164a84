"""Scores of kept rows: `scoring` writes one table for each score; `selection` joins them and drops the worst rows."""
