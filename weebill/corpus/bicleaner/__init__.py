"""Score `bicleaner`: bicleaner-ai (Zaragoza-Bernabeu et al. 2022), which runs in a separate environment.

Its dependencies and ours exclude each other, so text and scores are exchanged as files: `clean_pairs` and `exchange`
run in our environment, `training` and `classification` in the other one.  The latter two import only `errors`,
`files` and `text_files` of Weebill, and import the packages of their environment inside functions.
"""
