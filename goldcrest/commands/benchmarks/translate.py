"""Translation speed against Hugging Face's MarianMTModel.generate, on one core in float32.

Both translate the same batches to outputs of the same forced length.  With a self-attention decoder the
two hold the same weights and write the same greedy output, so only the implementation differs; the SSRU
decoder of the papers' students, which MarianMTModel has not, is set against it too.
"""

import random
from collections.abc import Callable

import torch
from transformers import MarianConfig, MarianMTModel

from goldcrest.commands.benchmark import Row, interleave, one_thread
from goldcrest.translation.architecture import Architecture, LayerShape
from goldcrest.translation.network import Translator, sinusoids
from goldcrest.translation.search import SearchOptions, greedy, prepack, search

PIECES, WIDTH, HEADS, FEED_FORWARD = 32000, 256, 8, 1536  # WNGT20's Tiny, its decoder untied
ENCODER_LAYERS, DECODER_LAYERS = 6, 2
BATCH = 32
LENGTHS = (34, 22, 12)  # source pieces with the end, one batch each
FACTOR = 1.1  # output pieces per source piece


def run(rounds: int) -> list[Row]:
    """Source pieces per second: greedy and beam 4 with the same weights, and greedy with an SSRU."""
    with one_thread():
        network, student = tiny("attention"), tiny("ssru")
        marian = marian_twin(network)
        for ours in (network, student):
            prepack(ours)  # as `load_translator` does
        cases = [
            ("greedy, self-attention decoder, same weights", network, 1),
            ("beam 4, self-attention decoder, same weights", network, 4),
            ("greedy, SSRU decoder in place of self-attention", student, 1),
        ]
        return [_measure(name, model, marian, beam, rounds) for name, model, beam in cases]


def _measure(name: str, network: Translator, marian: MarianMTModel, beam: int, rounds: int) -> Row:
    sources = batches()
    amount = float(sum(len(source) for batch in sources for source in batch))
    rates = interleave(
        _counted(lambda: translate(network, sources, beam), amount),
        _counted(lambda: marian_translate(marian, sources, beam), amount),
        rounds=rounds,
    )
    claim = f"translate, {name}, against Hugging Face MarianMTModel.generate"
    return Row.of_rounds(claim, *rates, unit="source pieces/s")


def _counted(work: Callable[[], object], amount: float) -> Callable[[], float]:
    def timed() -> float:
        work()
        return amount

    return timed


def tiny(decoder: str, pieces: int = PIECES) -> Translator:
    """A random network of the measured shape that never ends a sentence by itself."""
    torch.manual_seed(1)
    layer = LayerShape(HEADS, WIDTH // HEADS, FEED_FORWARD)
    attends = LayerShape(
        HEADS, WIDTH // HEADS, FEED_FORWARD, HEADS if decoder == "attention" else 0
    )
    network = Translator(
        Architecture(
            vocabulary=pieces,
            embedding=WIDTH,
            encoder=(layer,) * ENCODER_LAYERS,
            decoder=(attends,) * DECODER_LAYERS,
            decoder_depth=DECODER_LAYERS,
            decoder_kind=decoder,
        )
    )
    with torch.no_grad():
        network.output.bias[0] = -1e4
    return network.eval()


def batches(pieces: int = PIECES) -> list[list[list[int]]]:
    """Random sources of equal lengths in each batch, the end last."""
    draw = random.Random(1)
    return [
        [[*(draw.randrange(2, pieces) for _ in range(length - 1)), 0] for _ in range(BATCH)]
        for length in LENGTHS
    ]


def translate(network: Translator, sources: list[list[list[int]]], beam: int) -> list[list[int]]:
    """Ours; the last of the pieces that an output has room for is its end."""
    outputs = []
    for batch in sources:
        options = SearchOptions(
            beam=beam,
            batch_size=BATCH,
            length_factor=0.0,
            length_constant=int(FACTOR * len(batch[0])),
            allow_unknown=True,
        )
        if beam == 1:
            outputs += greedy([network], batch, options)
        else:
            outputs += [list(found[0].tokens) for found in search([network], batch, options)]
    return outputs


@torch.inference_mode()
def marian_translate(
    model: MarianMTModel, sources: list[list[list[int]]], beam: int
) -> list[list[int]]:
    """Theirs, outputs with the start piece."""
    outputs = []
    for batch in sources:
        ids = torch.tensor(batch)
        outputs += model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            num_beams=beam,
            max_new_tokens=int(FACTOR * ids.shape[1]),
            do_sample=False,
        ).tolist()
    return outputs


def marian_twin(network: Translator) -> MarianMTModel:
    """A MarianMTModel with the network's weights; one more piece, embedded as zero, starts the output."""
    shape = network.architecture
    pieces = shape.vocabulary
    model = MarianMTModel(
        MarianConfig(
            vocab_size=pieces + 1,
            d_model=shape.embedding,
            encoder_layers=len(shape.encoder),
            decoder_layers=shape.decoder_depth,
            encoder_attention_heads=shape.encoder[0].heads,
            decoder_attention_heads=shape.decoder[0].heads,
            encoder_ffn_dim=shape.encoder[0].feed_forward,
            decoder_ffn_dim=shape.decoder[0].feed_forward,
            activation_function="relu",
            scale_embedding=True,
            static_position_embeddings=True,
            max_position_embeddings=512,
            pad_token_id=pieces,
            decoder_start_token_id=pieces,
            eos_token_id=0,
            bos_token_id=None,
            forced_eos_token_id=None,
        )
    )
    positions = sinusoids(0, 512, shape.embedding, torch.device("cpu"))
    zero = torch.zeros(1, shape.embedding)
    weights = {
        "model.shared.weight": torch.cat([network.embedding.weight, zero]),
        "final_logits_bias": torch.cat([network.output.bias, torch.tensor([-1e4])])[None],
        "model.encoder.embed_positions.weight": positions,
        "model.decoder.embed_positions.weight": positions,
    }
    for side in ("encoder", "decoder"):
        for index, layer in enumerate(getattr(network, side)):
            prefix = f"model.{side}.layers.{index}"
            for part, theirs in MARIAN_NAMES[side].items():
                for name, value in layer.get_submodule(part).state_dict().items():
                    weights[f"{prefix}.{theirs}.{_marian_name(name)}"] = value
    for tied in ("model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"):
        weights[f"{tied}.weight"] = weights["model.shared.weight"]
    model.load_state_dict(weights)
    return model.eval()


MARIAN_NAMES = {
    "encoder": {
        "self_attention": "self_attn",
        "attention_norm": "self_attn_layer_norm",
        "feed_forward.inner": "fc1",
        "feed_forward.outer": "fc2",
        "feed_forward_norm": "final_layer_norm",
    },
    "decoder": {
        "self_attention": "self_attn",
        "self_norm": "self_attn_layer_norm",
        "cross_attention": "encoder_attn",
        "cross_norm": "encoder_attn_layer_norm",
        "feed_forward.inner": "fc1",
        "feed_forward.outer": "fc2",
        "feed_forward_norm": "final_layer_norm",
    },
}


def _marian_name(name: str) -> str:
    """query.weight → q_proj.weight; plain weights keep their name."""
    names = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "out": "out_proj"}
    part, _, parameter = name.rpartition(".")
    return f"{names[part]}.{parameter}" if part else name
