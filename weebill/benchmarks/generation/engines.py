"""Models of the published shapes with random weights, in float32 and in int8, each in a process of its own.

Float32 is the usual way: the library's model and its `generate`.  Int8 is loaded from a folder of `save_int8`.
"""

import time
from contextlib import nullcontext, suppress
from pathlib import Path

import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
)

from weebill.evaluation.timing.processes import memory
from weebill.evaluation.timing.timer import timed
from weebill.experiment.shares import part_of
from weebill.generation.int8 import load_int8, save_int8
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.kernels.cpu_matmul import OneDnnLinears
from weebill.pruning.cut import cut
from weebill.pruning.depth import cut_layers

PRODUCTS = ("PyTorch's", "oneDNN's")  # of float32; the processor decides which are faster
HEADS, NEURONS = 0.3, 0.6  # shares that the paper's pruning removes, of each block


def bart_large(layers: int = 12) -> BartForConditionalGeneration:
    """Make a random model of the shape of facebook/bart-large."""
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in {"layers": layers, "attention_heads": 16, "ffn_dim": 4096}.items()
    }
    config = BartConfig(vocab_size=50_265, d_model=1024, max_position_embeddings=1024, **sides)
    return BartForConditionalGeneration(config)


def gpt2(layers: int = 12) -> GPT2LMHeadModel:
    """Make a random model of the shape of openai-community/gpt2."""
    config = GPT2Config(vocab_size=50_257, n_positions=1024, n_embd=768, n_layer=layers, n_head=12)
    return GPT2LMHeadModel(config)


MODELS = {"bart-large": bart_large, "gpt2": gpt2}


def make_folder(name: str, half: bool, pruned: bool, folder: Path) -> None:
    """Write a model with random weights as folders `float32` and `int8`.

    half: without half of each stack's layers.  pruned: without the paper's shares of heads and neurons.
    """
    torch.manual_seed(1)
    model = MODELS[name]().eval()
    view = prunable(model)
    if half:
        for stack in view.layer_stacks():
            cut_layers(view, stack.name, stack.depth // 2)
    if pruned:
        heads = {b.name: range(part_of(HEADS, b.heads)) for b in view.attention_blocks()}
        neurons = {b.name: range(part_of(NEURONS, b.neurons)) for b in view.feed_forward_blocks()}
        cut(view, heads, neurons)
    save_model(folder / "float32", model)
    save_int8(model, folder / "int8")


class Texts:
    """Random articles and the number of tokens to write for each.

    Their lengths are from half of `longest` to `longest` pieces.
    """

    def __init__(self, pieces: int, batch: int, longest: int, new: int, left: bool):
        """Draw the articles; left: pad them on the left, not on the right."""
        lengths = torch.linspace(longest // 2, longest, batch).round().long()
        positions = torch.arange(longest)
        mask = positions < lengths[:, None]
        self.mask = (mask.flip(1) if left else mask).long()
        draw = torch.Generator().manual_seed(1)
        self.ids = torch.randint(10, pieces, self.mask.shape, generator=draw) * self.mask
        self.new = new


class Engine:
    """Model ready to generate greedily."""

    def __init__(self, folder: Path, precision: str, products: str, size: tuple[int, int, int]):
        """Load a model.

        precision: the folder's name.  products: one of PRODUCTS.  size: articles, tokens of the longest, new
        tokens.
        """
        self._libraries = memory()
        self.model: PreTrainedModel = {"float32": load_model, "int8": load_int8}[precision](
            folder / precision
        )
        if precision == "float32":
            forget_peak()
        self.products = products if precision == "float32" else PRODUCTS[0]
        config = self.model.config
        self.texts = Texts(config.vocab_size, *size, left=not config.is_encoder_decoder)

    def generate(self, new: int | None = None) -> float:
        """Write for every article; return seconds of processor time.

        new: number of tokens, None for the usual one.
        """
        return timed(self._generate, new or self.texts.new, clock=time.process_time)

    @torch.inference_mode()
    def _generate(self, new: int) -> None:
        with OneDnnLinears() if self.products == PRODUCTS[1] else nullcontext():
            self.model.generate(
                input_ids=self.texts.ids,
                attention_mask=self.texts.mask,
                do_sample=False,
                min_new_tokens=new,
                max_new_tokens=new,
                pad_token_id=0,
            )

    def peaks(self) -> tuple[float, float]:
        """Return the peak memory of this process in MiB: in total, and beyond Python and its libraries.

        For float32, the peak is counted since the model was loaded.
        """
        most = memory(peak=True)
        return most, most - self._libraries


def forget_peak() -> None:
    """Reset the peak memory, because the loader, not the model, determines the memory that loading takes.

    If the system does not allow it, the peak includes loading.
    """
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
