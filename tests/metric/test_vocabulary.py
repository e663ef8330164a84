"""Vocabularies cut to texts and languages: text in kept pieces has the same pieces and the same scores."""

import json

import numpy as np
import pytest
from tokenizers import Tokenizer

from tests.metric.small import REFERENCES, SOURCES, make_checkpoint, make_encoder
from weebill.errors import InputError
from weebill.metric.folder import load_metric, save_metric
from weebill.metric.scorer import Scorer
from weebill.metric.vocabulary import cut_vocabulary, kept_pieces

ROWS = [SOURCES[:2], REFERENCES[:2]]
TEXT = [line for lines in ROWS for line in lines]
SEEN = {"good": ROWS[1][::-1]}


@pytest.mark.parametrize("family", ["XLM-RoBERTa", "MiniLM", "BERT", "RemBERT"])
def test_scores_of_kept_pieces_are_unchanged(tmp_path, family):
    encoder = make_encoder(tmp_path / "encoder", family)
    model = make_checkpoint(tmp_path / "model", encoder, encoder_model=family)
    whole = load_metric(model)
    wanted = Scorer(whole).score(SEEN, *ROWS)["good"]
    rows = len(whole.network.encoder.embeddings.word_embeddings.weight)
    old = [Tokenizer.from_file(f"{encoder}/tokenizer.json").encode(line).tokens for line in TEXT]
    cut = cut_vocabulary(whole, kept_pieces(whole, TEXT))
    save_metric(tmp_path / "cut", cut, {})
    found = load_metric(tmp_path / "cut")
    tokenizer = Tokenizer.from_file(str(tmp_path / "cut/tokenizer.json"))
    assert [tokenizer.encode(line).tokens for line in TEXT] == old
    left = len(found.network.encoder.embeddings.word_embeddings.weight)
    assert left == tokenizer.get_vocab_size() < rows
    scores = Scorer(found).score(SEEN, *ROWS)["good"]
    np.testing.assert_array_equal(scores, wanted)


def test_languages(tmp_path):
    """German keeps all pieces, which are Latin; Greek keeps no piece with letters but the least likely one."""
    encoder = make_encoder(tmp_path / "encoder")
    metric = load_metric(make_checkpoint(tmp_path / "model", encoder))
    before = metric.tokenizer.size
    assert len(kept_pieces(metric, languages=["de"])) == before
    left = cut_vocabulary(metric, kept_pieces(metric, languages=["el"])).tokenizer
    names = Tokenizer.from_str(left.description()).get_vocab()
    found = [name for name in names if any(map(str.isalpha, name)) and not name.startswith("<")]
    assert len(found) == 1  # the least likely piece is always kept
    with pytest.raises(InputError, match="no language 'xq'"):
        kept_pieces(metric, languages=["xq"])
    with pytest.raises(InputError, match="no text and no language"):
        kept_pieces(metric, [])


def test_an_unknown_piece_that_is_no_special_one_stays(tmp_path):
    encoder = make_encoder(tmp_path / "encoder", "BERT")
    file = encoder / "tokenizer.json"
    description = json.loads(file.read_text())
    added = description["added_tokens"]
    description["added_tokens"] = [one for one in added if one["content"] != "[UNK]"]
    file.write_text(json.dumps(description))
    whole = load_metric(make_checkpoint(tmp_path / "model", encoder, encoder_model="BERT"))
    rows = [["Ja. \u4e2d"], ["Yes."], ["Ja."]]
    wanted = Scorer(whole).score({"": rows[0]}, *rows[1:])[""]
    kept = kept_pieces(whole, [line for lines in rows[1:] for line in lines])
    cut = cut_vocabulary(whole, kept)
    np.testing.assert_array_equal(Scorer(cut).score({"": rows[0]}, *rows[1:])[""], wanted)
