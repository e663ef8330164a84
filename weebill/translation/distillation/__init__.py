"""Interpolated sequence-level distillation (Kim & Rush 2016).

A corpus is split into shards; the teacher translates each into an n-best table; of parallel text the
hypothesis closest to the reference is selected, of monolingual text the most probable one; the shards of
all corpora are verified against the corpora and merged into the students' training table.
Text of the target language alone is translated back in the same way by a reverse teacher, whose translations
become the source side (WMT21 §3); what is said of sources below then holds for its targets.
"""
