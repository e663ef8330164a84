"""A training text with links from a student's own attention."""

import pyarrow as pa
import torch

from tests.translation.conftest import small_architecture
from weebill.corpus.table import read_columns, read_schema, write_table
from weebill.translation.model.folder import Model
from weebill.translation.model.network import Translator
from weebill.translation.training.aligned_by_model import align_by_model
from weebill.translation.training.alignments import alignments
from weebill.translation.training.encoding import encode_corpus, links_field

ROWS = [("the cat sees", "die Katze sieht"), ("A DOG", "EIN HUND"), ("a child", "ein Kind")]


def test_each_target_piece_has_a_link(tmp_path, vocabulary):
    torch.manual_seed(1)
    network = Translator(small_architecture(len(vocabulary))).eval()
    sources, targets = zip(*ROWS, strict=True)
    text = {"source": sources, "target": targets, "augmented_by": [None, "upper_case", None]}
    write_table(tmp_path / "text.parquet", pa.table(text))
    model, output = Model(tmp_path, network, vocabulary, {}), tmp_path / "aligned.parquet"
    assert align_by_model(tmp_path / "text.parquet", output, model, vocabulary) == 2
    assert read_schema(output).field("links").metadata == links_field(vocabulary).metadata
    pieces = [vocabulary.encode(list(side)) for side in (sources, targets)]
    expected = alignments(network, *pieces)
    found = read_columns(output, ["links"]).to_pydict()["links"]
    assert found[1] is None
    for row in (0, 2):
        assert found[row][::2] == expected[row]
        assert found[row][1::2] == list(range(len(pieces[1][row]) - 1))
    assert len(encode_corpus([output], vocabulary, tmp_path / "encoded", 50, linked=True)) == 3
