"""Score `bicleaner`: bicleaner-ai (Zaragoza-Bernabeu et al. 2022), in an environment of its own.

Its dependencies and ours exclude each other, so text and scores are exchanged as files: `clean_pairs` and `exchange`
write and read them here, `training` and `classification` in that environment.  These two import of Weebill only
`errors`, `files` and `text_files`, and that environment's packages inside functions.
"""
