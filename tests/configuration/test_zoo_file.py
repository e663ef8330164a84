"""All errors of the zoo are reported at once."""

import pytest

from weebill.configuration.zoo_file import load_zoo
from weebill.errors import InputError


def test_zoo_errors(tmp_path):
    shape = "embedding: 8, feed_forward: 8, encoder_layers: 1, decoder_tied: true"
    path = tmp_path / "models.yaml"
    path.write_text(
        f"odd: {{{shape}, heads: 3, attention_width: 8, decoder_layers: 1, decoder: ssru}}\n"
        f"wrong: {{{shape}, heads: 0, attention_width: 8, decoder_layers: [1, x], decoder: lstm, dept: 1}}\n"
    )
    with pytest.raises(InputError) as caught:
        load_zoo(path)
    assert str(caught.value).replace(str(path), "zoo").splitlines() == [
        "zoo: wrong.dept: unknown key, expected one of paper, embedding, feed_forward, heads, "
        "attention_width, encoder_layers, decoder_layers, decoder_tied, decoder, vocabulary, note",
        "zoo: wrong.heads: found 0, expected at least 1",
        "zoo: wrong.decoder_layers[1]: found 'x', expected a whole number",
        "zoo: wrong.decoder: found 'lstm', expected one of ssru, attention",
        "zoo: odd: attention_width 8 is no multiple of heads 3",
    ]
