"""The table of shortlists shows the measurements in every format."""

import csv
import io

from weebill.evaluation.quality.shortlist import Coverage, ShortlistMeasurement
from weebill.report import rendering
from weebill.report.results import Results
from weebill.report.tables.shortlist import shortlist_table

MEASURED = ShortlistMeasurement(
    variant="small/unpruned/int8",
    test_set="first",
    sentences=500,
    vocabulary=6000,
    bytes=50986,
    single=Coverage(1, 238.9, 0.90926, 0.98484),
    batched=Coverage(32, 1289.06, 0.96364, 0.99628),
    unchanged=0.966,
    bleu_without=38.176,
    bleu=38.131,
    low=36.57,
    high=39.65,
    p_value=0.066,
    signature="nrefs:1|version:2.6.0",
    test_set_sha256="5" * 64,
    model_sha256="a" * 64,
    shortlist_sha256="4" * 64,
    seed=1,
    versions={"torch": "2.13.0"},
)


def test_shares_are_per_cent_and_differences_those_of_the_shown_numbers():
    table = shortlist_table(Results({}, shortlists=[MEASURED]))
    (row,) = csv.DictReader(io.StringIO(rendering.to_csv(table)))
    assert (row["columns"], row["columns_batch"]) == ("239", "1289")
    assert (row["reference"], row["reference_batch"]) == ("90.93", "96.36")
    assert (row["own"], row["own_batch"], row["unchanged"]) == ("98.48", "99.63", "96.6")
    assert (row["bleu"], row["bleu_delta"], row["bleu_p"]) == ("38.13", "-0.05", "0.066")


def test_the_notes_name_file_and_batch():
    text = rendering.to_markdown(shortlist_table(Results({}, shortlists=[MEASURED])))
    assert "Shortlist of 6,000 pieces: 50,986 bytes, SHA-256 4444" in text
    assert "of 32 sentences of like length" in text
    assert "Signature of BLEU: nrefs:1" in text
