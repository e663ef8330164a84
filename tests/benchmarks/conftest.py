"""A test set with its systems, in the format that metric benchmarks read."""

import pytest


@pytest.fixture
def news(tmp_path):
    # Imported here: transformers is slow to import, and most tests here do not need it.
    from tests.metric.small import REFERENCES, SOURCES, SYSTEMS
    from weebill.benchmarks.metric import NAME

    files = {"src.en": SOURCES, "ref.A.de": REFERENCES, "ref.C.de": REFERENCES[::-1]}
    files |= {f"hyp.{name}.de": lines for name, lines in SYSTEMS.items()}
    for name, lines in files.items():
        text = "".join(f"{line}\n" for line in lines)
        (tmp_path / f"{NAME}.{name}").write_text(text)
    return tmp_path
