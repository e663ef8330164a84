"""Interpolated sequence-level distillation (Kim & Rush 2016).

A corpus is split into shards, and the teacher translates each shard into an n-best table.  For parallel text the
hypothesis closest to the reference is selected, for monolingual text the most probable one.  The shards of all
corpora are verified against the corpora and merged into the students' training table.
Monolingual text of the target language is translated in the same way by a reverse teacher, and its translations
become the source side (WMT21 §3); then "source" in these modules means the target side of the corpus.
"""
