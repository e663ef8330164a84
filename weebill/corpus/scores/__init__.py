"""Scores of kept rows: each a column of its own, by which the worst rows of a corpus are dropped.

`scoring` writes a score's table beside the corpus, `selection` joins the tables and drops by them, so that
another threshold recomputes no score.
"""
