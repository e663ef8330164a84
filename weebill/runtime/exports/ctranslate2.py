"""Export to CTranslate2, which runs students with self-attention decoders and quantizes float32 by itself."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import ctranslate2
import numpy as np
import torch
from ctranslate2.specs import common_spec, transformer_spec
from torch import Tensor, nn

from weebill.errors import InputError
from weebill.files import atomic_folder
from weebill.runtime.exports.input_note import copy_with_note
from weebill.runtime.exports.verification import COARSE, alike, close, in_float32, samples
from weebill.translation.model.layers import Attention, DecoderLayer, EncoderLayer
from weebill.translation.model.network import START, Translator, sinusoids
from weebill_runtime.architecture import Architecture
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import AnyVocabulary

POSITIONS = 2048
Sides = tuple[list[str], list[str]]  # pieces of source and target, in order


def export(
    network: Translator,
    pieces: Sequence[str],
    folder: str | Path,
    quantization: str | None = "int8",
    shortlist: Shortlist | None = None,
    vocabulary: AnyVocabulary | None = None,
) -> None:
    """Write a model folder, atomically, after CTranslate2 has reproduced the network's scores from it.

    pieces: those of the target vocabulary, in order.  quantization: one of CTranslate2's, None for float32.
    shortlist: written as vocabulary map, used if a translation requests it.  vocabulary: copied beside the model.
    Raises InputError if CTranslate2 cannot hold the student's shape, or its quantization changes the scores.
    """
    if fault := _fault(network.architecture):
        raise InputError(fault)
    network, sources = in_float32(network), vocabulary.source.pieces if vocabulary else pieces
    sides = list(sources), list(pieces)
    with atomic_folder(folder) as partial, tempfile.TemporaryDirectory() as scratch:
        # Compare a float32 export first: rounding would hide mistakes.
        exact = Path(scratch) / "float32"
        _write(exact, network, sides, None)
        close(*_scores(exact, network, sides), folder)
        _write(partial, network, sides, quantization, shortlist)
        if not alike(*_scores(partial, network, sides), COARSE):
            raise InputError(
                f"{folder}: not written, as in {quantization} CTranslate2's scores are far from this student's; "
                "use `weebill convert --quantization float32`"
            )
        if vocabulary is not None:
            copy_with_note(vocabulary, partial)


def _write(
    folder: Path,
    network: Translator,
    pieces: Sides,
    quantization: str | None,
    shortlist: Shortlist | None = None,
) -> None:
    shape = network.architecture
    encoder, decoder = shape.encoder[0], shape.decoder[0]
    common = {"pre_norm": False, "activation": common_spec.Activation.RELU}
    spec = transformer_spec.TransformerSpec(
        transformer_spec.TransformerEncoderSpec(
            len(shape.encoder), encoder.heads, head_dim=encoder.head_size, **common
        ),
        transformer_spec.TransformerDecoderSpec(
            shape.decoder_depth, decoder.heads, head_dim=decoder.head_size, **common
        ),
    )
    _common(spec.encoder, network, network.source_embedding or network.embedding)
    for theirs, layer in zip(spec.encoder.layer, network.encoder, strict=True):
        _attention(theirs.self_attention, layer.self_attention, layer.attention_norm, own=True)
        _feed_forward(theirs.ffn, layer)
    _common(spec.decoder, network, network.embedding)
    spec.decoder.start_from_zero_embedding = True
    _linear(spec.decoder.projection, network.output)
    for theirs, layer in zip(spec.decoder.layer, network.decoder_layers(), strict=True):
        _attention(theirs.self_attention, layer.self_attention, layer.self_norm, own=True)
        _attention(theirs.attention, layer.cross_attention, layer.cross_norm, own=False)
        _feed_forward(theirs.ffn, layer)
    spec.register_source_vocabulary(pieces[0])
    spec.register_target_vocabulary(pieces[1])
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization=quantization)
    folder.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile() as mapping:
        if shortlist is not None:
            _write_map(shortlist, pieces, Path(mapping.name))
            spec.register_vocabulary_mapping(mapping.name)  # copied by `save`
        spec.save(str(folder))


@torch.inference_mode()
def _scores(folder: Path, network: Translator, pieces: Sides) -> tuple[Tensor, Tensor]:
    """Return log probabilities (sentences, pieces) of given translations by CTranslate2 and by us."""
    source, mask, target = samples(network.architecture)
    engine = ctranslate2.Translator(str(folder), "cpu", compute_type="default", intra_threads=1)
    real = [row[there][:-1] for row, there in zip(source, mask, strict=True)]
    named = [
        [[names[piece] for piece in row] for row in rows]
        for names, rows in zip(pieces, (real, target), strict=True)
    ]
    told = engine.score_batch(*named)
    found = torch.tensor([one.log_probs[: target.shape[1]] for one in told])
    inputs = torch.cat([torch.full((len(target), 1), START), target[:, :-1]], 1)
    hidden = network.decode(inputs, network.encode(source, mask), mask)
    expected = network.logits(hidden).log_softmax(-1).gather(-1, target[..., None]).squeeze(-1)
    return found, expected


def _fault(shape: Architecture) -> str | None:
    """Return the reason why CTranslate2 cannot hold a student of this shape; None if it can."""
    if shape.decoder_kind != "attention":
        return "CTranslate2 has no SSRU decoder; export a student with a self-attention decoder, or to Marian"
    sides = {"encoder": shape.encoder, "decoder": shape.decoder}
    for side in sides.values():
        if len({(layer.heads, layer.head_size) for layer in side}) > 1 or not side[0].heads:
            return "CTranslate2 wants as many heads in every layer, at least one; this student's heads are pruned"
    for name, side in sides.items():
        empty = [str(number) for number, layer in enumerate(side, 1) if not layer.feed_forward]
        if empty:
            return (
                f"CTranslate2 wants a neuron at least in every feed-forward layer; this student has none in "
                f"{name} layer {', '.join(empty)}; export it to ONNX, or to Marian with --pad"
            )
    if any(layer.self_heads != layer.heads for layer in shape.decoder):
        return (
            "CTranslate2 wants as many heads in a decoder's self-attention as in its attention to the source; this "
            "student's are pruned"
        )
    return None


def _common(spec: object, network: Translator, table: nn.Module) -> None:
    embeddings = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
    embeddings.weight = _array(table.weight)
    positions = sinusoids(0, POSITIONS, network.width, torch.device("cpu"))
    spec.position_encodings.encodings = _array(positions)


def _attention(spec: object, attention: Attention, norm: nn.LayerNorm, own: bool) -> None:
    maps = [attention.query, attention.key, attention.value]
    groups = [maps] if own else [maps[:1], maps[1:]]
    for theirs, group in zip(spec.linear, groups, strict=False):
        theirs.weight = np.concatenate([_array(one.weight) for one in group])
        theirs.bias = np.concatenate([_array(one.bias) for one in group])
    _linear(spec.linear[-1], attention.out)
    _norm(spec.layer_norm, norm)


def _feed_forward(spec: object, layer: EncoderLayer | DecoderLayer) -> None:
    _linear(spec.linear_0, layer.feed_forward.inner)
    _linear(spec.linear_1, layer.feed_forward.outer)
    _norm(spec.layer_norm, layer.feed_forward_norm)


def _linear(spec: object, linear: nn.Module) -> None:
    spec.weight, spec.bias = _array(linear.weight), _array(linear.bias)


def _norm(spec: object, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _array(tensor: Tensor) -> np.ndarray:
    """Return a copy, because CTranslate2 quantizes in place."""
    return tensor.detach().numpy().copy()


def _write_map(shortlist: Shortlist, pieces: Sides, path: Path) -> None:
    """Write CTranslate2's vocabulary map: source piece, tab, target pieces; the empty piece's are always allowed."""
    sources, names = pieces
    lists = [("", shortlist.frequent), *zip(sources, shortlist.candidates, strict=True)]
    with path.open("w", encoding="utf-8", newline="") as file:
        for source, targets in lists:
            chosen = " ".join(names[target] for target in targets if target >= 0)
            if chosen or not source:
                file.write(f"{source}\t{chosen}\n")
