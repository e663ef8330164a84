"""Scores of kept rows, by which the worst rows of a corpus are dropped; each score has its own column.

`scoring` writes the table of each score, and `selection` joins the tables with the corpus and drops rows.  A new
threshold therefore needs no new scores.
"""
