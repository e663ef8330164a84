"""Class of an encoder, found by its folder: the class of its weights and, for BERT's, of its pieces."""

import pytest

from tests.metric.small import make_encoder, write_sentencepiece
from weebill.errors import InputError
from weebill.files import read_json, write_json
from weebill.metric.encoder_family import BY_TYPE, MINILM, checked_family, family_of
from weebill.metric.network import FAMILIES


def test_every_class_that_metrics_have_is_recognised(tmp_path):
    assert {*BY_TYPE.values(), MINILM} == {*FAMILIES}
    for family in FAMILIES:
        assert family_of(make_encoder(tmp_path / family, family)) == family


def test_pieces_of_the_old_format_are_xlmrs(tmp_path):
    folder = make_encoder(tmp_path / "old", "MiniLM")
    write_sentencepiece(folder)
    assert family_of(folder) == "MiniLM"


def test_no_encoder_of_comet(tmp_path):
    folder = make_encoder(tmp_path / "encoder", "BERT")
    config = folder / "config.json"
    write_json(config, {**read_json(config), "model_type": "bort"})
    line = r"config\.json: model_type is 'bort', expected one of xlm-roberta, .*; did you mean 'bert'\?"
    with pytest.raises(InputError, match=line):
        family_of(folder)
    config.unlink()
    with pytest.raises(InputError, match=r"encoder: not an encoder's folder \(no config\.json\)"):
        checked_family(None, folder)
