"""Beam search by a teacher's network against Hugging Face's MarianMTModel.generate with the same weights.

Both translate the same batches of sentences of one length to outputs of the same forced length, on one core, in
processor time.  Hugging Face computes in float32, with its fastest batch size.  Ours is the runtime as in
distillation, in float32 and, if the processor can multiply it, in bfloat16.
"""

import random
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated

import torch
from transformers import MarianMTModel

from weebill.benchmarks import Option, Row
from weebill.benchmarks.gpu_opponent import marian_config
from weebill.configuration.zoo_file import load_zoo
from weebill.errors import InputError, nearest
from weebill.evaluation.timing.timer import one_thread, rates_in_turn, timed
from weebill.runtime.text import best_isa
from weebill.runtime.translator import Runtime, weights_of
from weebill.translation.model.network import Translator, sinusoids
from weebill.translation.search import fastest_precision
from weebill.translation.training.trainer import new_network
from weebill_runtime.architecture import Architecture
from weebill_runtime.options import SearchOptions

OPPONENTS = ("transformers",)  # packages whose versions are reported with the results
MODELS_MEASURED = ("multi30k.teacher", "transformer-base")
PIECES = {"multi30k.teacher": 8000}  # for networks without a number in the zoo
BEAMS = (4, 8)  # as in distillation: monolingual and parallel text
SMALLEST = {"arch": ("multi30k.teacher",), "beam": (4,)}
SENTENCES = 32  # sentences of each length
LENGTHS = (34, 22, 12)  # source pieces with the end, one batch each
FACTOR = 1.1  # output pieces per source piece
HUGGING_FACE_BATCHES = (8, 16, 32)
Batches = list[list[list[int]]]  # pieces of each sentence
MARIAN_NAMES = {  # parts of our tensors' names, and of Marian's
    "self_attention": "self_attn",
    "attention_norm": "self_attn_layer_norm",  # in the encoder
    "self_norm": "self_attn_layer_norm",  # in the decoder
    "cross_attention": "encoder_attn",
    "cross_norm": "encoder_attn_layer_norm",
    "inner": "fc1",  # in feed_forward, which has no name in Marian
    "outer": "fc2",
    "feed_forward_norm": "final_layer_norm",
    "query": "q_proj",
    "key": "k_proj",
    "value": "v_proj",
    "out": "out_proj",
}


def run(
    rounds: int,
    arch: Annotated[
        Sequence[str], Option("networks of the zoo with attention decoders", "NAME")
    ] = MODELS_MEASURED,
    beam: Annotated[
        Sequence[int], Option("beam sizes; each is the number of translations too", "N")
    ] = BEAMS,
) -> Iterator[Row]:
    """Yield source pieces per second by network, beam and precision.  Raises InputError for an unknown network."""
    zoo = load_zoo()
    for name in arch:
        if name not in zoo:
            raise InputError(f"benchmark search: no architecture '{name}'{nearest(name, zoo)}")
        if zoo[name]["decoder"] != "attention" or zoo[name]["decoder_tied"]:
            raise InputError(
                f"benchmark search: the decoder of '{name}' is none that MarianMTModel has; "
                "name a teacher, with untied layers of self-attention"
            )
    for name in arch:
        for width in beam:
            with one_thread():
                yield from _measure(name, width, rounds)


def _measure(name: str, beam: int, rounds: int) -> list[Row]:
    network = endless(name)
    pieces = network.embedding.num_embeddings
    sources = batches(pieces)
    marian = marian_twin(network)
    size = best_batch(marian, sources, beam)
    isa = best_isa([weights_of(network)])
    precisions = list(dict.fromkeys(["float32", fastest_precision("cpu")]))
    ours = [Runtime([network], isa, precision=precision) for precision in precisions]
    works = [partial(translate, runtime, sources, beam) for runtime in ours]
    works.append(partial(marian_translate, marian, sources, beam, size))
    amount = float(sum(len(source) for batch in sources for source in batch))
    rates = rates_in_turn(dict(enumerate(works)), amount, rounds, clock=time.process_time)
    *rates, other = rates.values()
    return [
        Row.of_rounds(
            f"search, {name}, {pieces:,} pieces, beam and n-best {beam}, batches of {SENTENCES}, {isa}, {precision}, "
            f"against MarianMTModel.generate, batches of {size}, float32; one core",
            rate,
            other,
            unit="source pieces/s",
            key=f"{name}, beam {beam}, {precision}",
        )
        for precision, rate in zip(precisions, rates, strict=True)
    ]


def endless(name: str) -> Translator:
    """Make a random network of a zoo entry's shape that never ends a sentence by itself."""
    entry = load_zoo()[name]
    network = new_network(Architecture.from_zoo(entry, PIECES.get(name)), seed=1, dropout=0.0)
    with torch.no_grad():
        network.output.bias[0] = -1e4
    return network.eval()


def batches(pieces: int) -> Batches:
    """Draw random sources, of equal length within each batch, with the end piece last."""
    draw = random.Random(1)
    return [
        [[*(draw.randrange(2, pieces) for _ in range(length - 1)), 0] for _ in range(SENTENCES)]
        for length in LENGTHS
    ]


def translate(runtime: Runtime, sources: Batches, beam: int) -> list[list[int]]:
    """Translate by our runtime; an output's length limit includes its end piece."""
    forced = {"beam": beam, "nbest": beam, "length_factor": 0.0, "allow_unknown": True}
    outputs = []
    for batch in sources:
        options = SearchOptions(length_constant=int(FACTOR * len(batch[0])), **forced)
        outputs += [list(found[0].tokens) for found in runtime.search(batch, options)]
    return outputs


def best_batch(model: MarianMTModel, sources: Batches, beam: int) -> int:
    """Return the value of HUGGING_FACE_BATCHES for which `model` translates sources of middle length fastest."""
    middle = [sources[len(sources) // 2]]
    marian_translate(model, [middle[0][:1]], beam, 1)  # warm-up

    def seconds(size: int) -> float:
        return timed(marian_translate, model, middle, beam, size, clock=time.process_time)

    return min(HUGGING_FACE_BATCHES, key=seconds)


@torch.inference_mode()
def marian_translate(
    model: MarianMTModel, sources: Batches, beam: int, batch_size: int
) -> list[list[int]]:
    """Translate by Hugging Face's model; return the best outputs, with the start piece."""
    outputs = []
    for batch in sources:
        for first in range(0, len(batch), batch_size):
            ids = torch.tensor(batch[first : first + batch_size])
            outputs += model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                num_beams=beam,
                num_return_sequences=beam,
                max_new_tokens=int(FACTOR * ids.shape[1]),
                do_sample=False,
            ).tolist()[::beam]
    return outputs


def marian_twin(network: Translator) -> MarianMTModel:
    """Make a MarianMTModel with the network's weights; an additional piece, embedded as zero, starts outputs."""
    shape = network.architecture
    model = MarianMTModel(marian_config(shape))
    positions = sinusoids(0, 512, shape.embedding, torch.device("cpu"))
    zero = torch.zeros(1, shape.embedding)
    weights = {
        "model.shared.weight": torch.cat([network.embedding.weight, zero]),
        "final_logits_bias": torch.cat([network.output.bias, torch.tensor([-1e4])])[None],
        "model.encoder.embed_positions.weight": positions,
        "model.decoder.embed_positions.weight": positions,
    }
    for side in ("encoder", "decoder"):
        for name, value in getattr(network, side).state_dict().items():
            parts = [MARIAN_NAMES.get(one, one) for one in name.split(".") if one != "feed_forward"]
            weights[".".join(["model", side, "layers", *parts])] = value
    for tied in ("model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"):
        weights[f"{tied}.weight"] = weights["model.shared.weight"]
    model.load_state_dict(weights)
    return model.eval()
