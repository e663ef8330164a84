"""Fine-tuning by updates of low rank (LoRA, Hu et al. 2022), which TEXTGEN §5 proposes, by the library peft."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from weebill.generation.quantizable import quantizable
from weebill.generation.settings import LowRankSettings


@contextmanager
def low_rank_updates(model: PreTrainedModel, settings: LowRankSettings, seed: int) -> Iterator[int]:
    """Train only W + α / r · B A instead of every linear map's W within the context; keep the sum after it.

    W (out, in) is frozen, B (out, r) starts at 0 and A (r, in) at random numbers from the seed.  The output layer,
    which shares its weights with the embeddings in most models, stays as it is, like all other parameters.
    Yield the number of trained parameters.
    """
    output = model.get_output_embeddings()
    names = [
        name
        for name, module in quantizable(model)
        if isinstance(module, nn.Linear | Conv1D) and module is not output
    ]
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=names,
        fan_in_fan_out=any(isinstance(model.get_submodule(name), Conv1D) for name in names),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        adapted = get_peft_model(model, config)
    yield sum(one.numel() for one in model.parameters() if one.requires_grad)
    adapted.merge_and_unload()
    model.requires_grad_(True)
