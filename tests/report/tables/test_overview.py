"""Tables of all variants, of pruned shapes and of shortlists show the measurements."""

from dataclasses import replace

from tests.report.conftest import read
from weebill.evaluation.quality.shortlist import Coverage, ShortlistMeasurement
from weebill.report import rendering
from weebill.report.lookups.translation import variants
from weebill.report.results import Results
from weebill.report.tables import overview


def test_variants_table_has_every_variant_and_its_signature(results):
    table = overview.variants_table(results)
    rows = read(table)
    assert len(rows) == len(variants(results)) * 2
    row = next(
        r for r in rows if (r["variant"], r["test_set"]) == ("small/pushy-i6/float32", "second")
    )
    assert (row["bleu"], row["bleu_low"], row["bleu_high"]) == ("32.50", "31.50", "33.50")
    assert (row["bleu_delta"], row["bleu_p"]) == ("-0.50", "0.040")
    assert any("seed:12345" in note for note in table.notes)


def test_variants_table_has_comet_if_it_was_measured(results):
    assert "comet" not in read(overview.variants_table(results))[0]
    bleu = [one for one in results.qualities if one.metric == "BLEU"]
    comet = [replace(one, metric="COMET", score=one.score + 9, signature="c") for one in bleu]
    results.qualities = [*results.qualities, *comet]
    table = overview.variants_table(results)
    row = next(
        r
        for r in read(table)
        if (r["variant"], r["test_set"]) == ("small/pushy-i6/float32", "second")
    )
    assert (row["comet"], row["comet_delta"], row["comet_p"]) == ("41.50", "-0.50", "0.040")
    assert "Signature of COMET: c" in table.notes


def test_heads_table_counts_what_went(results):
    rows = {r["variant"]: r for r in read(overview.heads_table(results))}
    assert rows["small/pushy-i6"]["heads"] == "12"
    assert rows["small/pushy-i6"]["heads_delta"] == "-36"
    assert rows["other/unpruned"]["heads_3"] == "4"
    assert rows["other/unpruned"]["heads_4"] == ""


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
    table = overview.shortlist_table(Results({}, shortlists=[MEASURED]))
    (row,) = read(table)
    assert (row["columns"], row["columns_batch"]) == ("239", "1289")
    assert (row["reference"], row["reference_batch"]) == ("90.93", "96.36")
    assert (row["own"], row["own_batch"], row["unchanged"]) == ("98.48", "99.63", "96.6")
    assert (row["bleu"], row["bleu_delta"], row["bleu_p"]) == ("38.13", "-0.05", "0.066")


def test_the_notes_name_file_and_batch():
    text = rendering.to_markdown(overview.shortlist_table(Results({}, shortlists=[MEASURED])))
    assert "Shortlist of 6,000 pieces: 50,986 bytes, SHA-256 4444" in text
    assert "of 32 sentences of like length" in text
    assert "Signature of BLEU: nrefs:1" in text
