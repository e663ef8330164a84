"""Interpolated sequence-level distillation (Kim & Rush 2016).

A corpus is split into shards, and the teacher translates each into an n-best table.  For parallel text the
hypothesis closest to the reference is selected, for monolingual text the most probable one.  The shards are verified
against the corpora and merged into the students' training table.  A reverse teacher translates monolingual text of
the target language (WMT21 §3); then "source" in these modules means the target side of the corpus.
"""
