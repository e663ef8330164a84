"""Test set in WMT's format that sacreBLEU takes for a published one."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from sacrebleu import DATASETS
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset

NAME = "wmt99"


def publish(
    folder: Path, change: pytest.MonkeyPatch, documents: Sequence[tuple[str, Sequence[str]]]
) -> None:
    """Add the English-German test set wmt99 to sacreBLEU.

    documents: original language and segments of each; sources begin with "src", references with "ref".
    """
    raw = folder / NAME / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for side in ("src", "ref"):
        text = (
            f'<doc docid="{number}" genre="news" origlang="{language}">\n'
            + "".join(f'<seg id="1">{side} {segment}</seg>\n' for segment in segments)
            + "</doc>\n"
            for number, (language, segments) in enumerate(documents)
        )
        (raw / f"{side}.sgm").write_text("".join(text), encoding="utf-8")
    dataset = FakeSGMLDataset(
        NAME, data=[], description="", citation="", langpairs={"en-de": ["src.sgm", "ref.sgm"]}
    )
    change.setattr(dataset, "_rawdir", str(raw))
    change.setattr(dataset, "_outdir", str(folder))
    change.setattr("sacrebleu.utils.SACREBLEU_DIR", str(folder))  # --origlang reads the raw files
    change.setattr(dataset, "maybe_download", lambda: None)
    change.setitem(DATASETS, NAME, dataset)
