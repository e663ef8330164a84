"""Sentences and defaults of settings classes."""

from dataclasses import field

from weebill.settings import Count, defaults, section, sentences


@section
class Base:
    """Settings with a sentence that a subclass keeps."""

    kept: Count = 3
    """A sentence
    on two lines."""
    changed: str = "a"
    """Replaced below."""


@section
class Child(Base):
    """Settings with keys of their own."""

    changed: str = "b"
    """The child's own."""
    silent: int
    made: dict = field(default_factory=dict)
    """Made anew."""


def test_sentences_follow_inheritance():
    assert sentences(Child) == {
        "kept": "A sentence on two lines.",
        "changed": "The child's own.",
        "made": "Made anew.",
    }


def test_defaults():
    assert defaults(Child) == {"kept": 3, "changed": "b", "silent": None, "made": None}
