"""Corpora: import, cleaning, scores, selection, augmentation and export of parallel and monolingual text."""
