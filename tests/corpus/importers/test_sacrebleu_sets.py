"""Names of language pairs in sacreBLEU, whatever the spelling of the codes."""

from sacrebleu import DATASETS

from weebill.corpus.importers.sacrebleu_sets import langpair


def test_pairs_of_sacrebleu():
    known = DATASETS["wmt22"].langpairs
    assert langpair(known, ("en", "zh-CN")) == "en-zh" and langpair(known, ("zh", "en")) == "zh-en"
    assert langpair(known, ("eng_Latn", "de-AT")) == "en-de"
    assert langpair(known, ("en", "th")) is None
