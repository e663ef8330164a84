"""Export to a folder of two graphs, their description and the vocabulary."""

import shutil
from pathlib import Path

import onnx
import torch

from weebill.files import atomic_folder, write_json, write_text
from weebill.runtime.exports.onnx.graphs import decoder, encoder, interface
from weebill.runtime.exports.onnx.search import DESCRIPTION, OnnxStudent
from weebill.runtime.exports.verification import close, samples
from weebill.runtime.exports.weights import in_float32
from weebill.translation.model.network import START, Translator
from weebill.translation.model.vocabulary import EOS, UNK, Vocabulary

README = """\
# A translation model as ONNX graphs

`encoder.onnx` reads source pieces once; `decoder.onnx` makes one step of a search. `model.json` lists their inputs
and outputs with types and shapes; `vocab.spm` is the SentencePiece model of both languages.

1. Split a sentence into pieces by `vocab.spm` and append the end (`end` in `model.json`). Shorter sentences of a
   batch are filled up with any piece; `mask` is true where a real piece stands.
2. Run the encoder on `source` and `mask`. Its outputs are inputs of the decoder, the same in every step.
3. Before the first step every state is zeros, with a size of 0 where its shape says `past`; `previous` is `start` for
   every sentence and `position` is 0.
4. Run the decoder. `logits` are the scores of the next piece, before a softmax; never choose `unknown`. The chosen
   pieces are the next `previous`, `position` grows by 1, and the states that come out go in again (`states`).
5. A sentence is done when its piece is the end. `vocab.spm` joins the pieces to text.

For a beam search give every hypothesis a row: repeat mask and memory for each, and reorder the states as
hypotheses go on from each other.
"""


def export(network: Translator, vocabulary: Vocabulary, folder: str | Path) -> None:
    """Write encoder.onnx, decoder.onnx, model.json, a README and the vocabulary, atomically.

    Exports contain float32 weights, whatever their grid; layers may differ in shape.  onnxruntime must reproduce
    the network's scores before the folder appears.
    """
    network = in_float32(network)
    ends = interface(network)
    with atomic_folder(folder) as partial:
        onnx.save(encoder(network, ends), partial / "encoder.onnx")
        onnx.save(decoder(network, ends), partial / "decoder.onnx")
        shutil.copyfile(vocabulary.path, partial / "vocab.spm")
        description = {
            "format": "weebill-onnx-1",
            "vocabulary": len(vocabulary),
            "start": START,
            "end": EOS,
            "unknown": UNK,
            "encoder": {"inputs": ends.encoder_inputs, "outputs": ends.memory},
            "decoder": {"inputs": ends.decoder_inputs, "outputs": ends.decoder_outputs},
            "states": ends.states,
        }
        write_json(partial / DESCRIPTION, description)
        write_text(partial / "README.md", README)
        _verify(OnnxStudent(partial), network, folder)


@torch.inference_mode()
def _verify(student: OnnxStudent, network: Translator, folder: str | Path) -> None:
    """Compare three steps of a batch with padding, by both engines."""
    source, mask, target = samples(network.embedding.num_embeddings)
    inputs = student.start(source.numpy(), mask.numpy())
    state = network.start(network.encode(source, mask), mask)
    previous = torch.full((len(source),), START)
    for step in range(target.shape[1] + 1):
        found, inputs = student.step(inputs | {"previous": previous.numpy()})
        expected, state = network.step(previous, state)
        close(torch.from_numpy(found), expected, folder)
        if step < target.shape[1]:
            previous = target[:, step]
