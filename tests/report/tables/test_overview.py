"""The tables of all variants and of pruned shapes show the measurements."""

from tests.report.conftest import read
from weebill.report.lookups.translation import variants
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


def test_heads_table_counts_what_went(results):
    rows = {r["variant"]: r for r in read(overview.heads_table(results))}
    assert rows["small/pushy-i6"]["heads"] == "12"
    assert rows["small/pushy-i6"]["heads_delta"] == "-36"
    assert rows["other/unpruned"]["heads_3"] == "4"
    assert rows["other/unpruned"]["heads_4"] == ""
