"""The score `bicleaner`: bicleaner-ai (Zaragoza-Bernabeu et al. 2022), which runs in an environment of its own.

Its dependencies and ours exclude each other, so text goes to it and scores come back in files: `clean_pairs`
and `exchange` write and read them here, `training` and `classification` do so there.  These two import no more
of Weebill than `errors`, `files` and `text_files`, and their environment's packages inside functions alone.
"""
