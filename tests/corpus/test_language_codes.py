"""Codes of languages are those of ISO 639-3, and other codes stay as they are."""

from weebill.corpus.language_codes import iso_639_3


def test_codes():
    assert iso_639_3("de") == "deu" and iso_639_3("gsw") == "gsw"
