"""transformers' MarianMTModel in the shape of one of our networks: its configuration, training and search."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel

from weebill.translation.model.batch import Batch
from weebill_runtime.architecture import Architecture
from weebill_runtime.vocabulary import EOS

IGNORED = -100  # label of a position that the loss leaves out


def marian_config(shape: Architecture, dropout: float = 0.0) -> MarianConfig:
    """Return the configuration of a model with the widths and numbers of layers of a shape.

    Its decoder has attention and untied layers.  An additional piece starts the outputs and pads batches.
    """
    pieces = shape.vocabulary
    return MarianConfig(
        vocab_size=pieces + 1,
        d_model=shape.embedding,
        encoder_layers=len(shape.encoder),
        decoder_layers=shape.decoder_depth,
        encoder_attention_heads=shape.encoder[0].heads,
        decoder_attention_heads=shape.decoder[0].heads,
        encoder_ffn_dim=shape.encoder[0].feed_forward,
        decoder_ffn_dim=shape.decoder[0].feed_forward,
        activation_function="relu",
        dropout=dropout,
        attention_dropout=0.0,
        scale_embedding=True,
        static_position_embeddings=True,
        max_position_embeddings=512,
        pad_token_id=pieces,
        decoder_start_token_id=pieces,
        eos_token_id=EOS,
        bos_token_id=None,
        forced_eos_token_id=None,
    )


def marian(shape: Architecture, device: str, dropout: float = 0.0) -> MarianMTModel:
    """Make a model of `marian_config` with random weights."""
    with torch.device(device):
        model = MarianMTModel(marian_config(shape, dropout))
    return model.to(device)


class MarianTraining:
    """Training of a `marian` model as users usually write it: autocast, and fused Adam."""

    def __init__(self, shape: Architecture, device: str, dropout: float, rate: float):
        self.model = marian(shape, device, dropout).train()
        self.device, self.pieces = device, shape.vocabulary
        fused = device.startswith("cuda")
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=rate, fused=fused)

    def update(self, batches: list[Batch]) -> None:
        """Make one update from some batches."""
        for batch in batches:
            kind = self.device.split(":")[0]
            with torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"):
                loss = self.model(**self._inputs(batch.to(torch.device(self.device)))).loss
            loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def _inputs(self, batch: Batch) -> dict[str, Tensor]:
        starts = torch.full_like(batch.target[:, :1], self.pieces)
        return {
            "input_ids": batch.source,
            "attention_mask": batch.source_mask.long(),
            "decoder_input_ids": torch.cat([starts, batch.target[:, :-1]], 1),
            "labels": batch.target.masked_fill(~batch.target_mask, IGNORED),
        }


@torch.inference_mode()
def generate(
    model: MarianMTModel, sources: list[list[int]], batch_size: int, factor: float, **options: Any
) -> int:
    """Translate sources, sorted by length, to outputs of `factor` times the longest; return the number of pieces."""
    ordered = sorted(sources, key=len, reverse=True)
    device, found = model.device, 0
    for first in range(0, len(ordered), batch_size):
        part = ordered[first : first + batch_size]
        longest = len(part[0])
        ids = torch.full((len(part), longest), model.config.pad_token_id)
        for row, source in enumerate(part):
            ids[row, : len(source)] = torch.tensor(source)
        ids = ids.to(device)
        count = max(1, round(factor * longest))
        mask = (ids != model.config.pad_token_id).long()
        made = model.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=count, do_sample=False, **options
        )
        found += made.shape[0] * (made.shape[1] - 1)
    return found
