"""The score `bicleaner`: bicleaner-ai (Zaragoza-Bernabeu et al. 2022), in its own environment.

Text and scores are exchanged as files.  `training` and `classification` run in that environment, and import only
`errors`, `files` and `text_files` of Weebill.
"""
