"""Text by the compiled decoder of an int8 model: the library's `generate` without the library between the tokens."""

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from weebill.errors import InputError
from weebill.generation.decoders import describe
from weebill.generation.search import write, write_beams
from weebill.generation.search_options import search_options
from weebill.kernels.decoder import CompiledDecoder

ROOM = 256  # new tokens of each text that memory is reserved for from the start


class CompiledGenerator:
    """Generator by an int8 model like GPT-2, BART or T5, whose weights it shares.

    Encoders run in PyTorch with int8 layers.  A text does not depend on the others of a batch, nor on threads.
    """

    def __init__(self, model: PreTrainedModel):
        """Take a model of `load_int8`.  Raises InputError if the compiled decoder cannot run it."""
        self.model = model
        self._decoder = CompiledDecoder(describe(model))

    @torch.inference_mode()
    def generate(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        seed: int = 0,
        **options: Any,
    ) -> Tensor:
        """Return tokens as the model's `generate` does: (texts · returned, length), padded at the end.

        input_ids: (texts, length).  attention_mask: 0 for padding, which may stand anywhere.
        seed: text i draws by seed + i.  options: of the library's `generate`; see `search_options`.
        """
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        real = attention_mask.bool()
        lengths = real.sum(1)
        if not lengths.all():
            raise InputError(f"text {int(lengths.argmin()) + 1} is empty; leave it out")
        pairs = self.model.config.is_encoder_decoder
        chosen = search_options(self.model, 1 if pairs else input_ids.shape[1], options)
        copies = chosen.returned if chosen.sample else 1
        seeds = [seed + i for i in range(len(input_ids) * copies)]
        texts = torch.arange(len(input_ids))
        if pairs:
            states = self.model.get_encoder()(
                input_ids=input_ids, attention_mask=attention_mask
            ).last_hidden_state[real]
            prompt, counts = input_ids.new_full((len(texts), 1), chosen.start), [1] * len(texts)
            tokens = prompt.flatten()
        else:
            states, prompt, counts, tokens = None, input_ids, lengths.tolist(), input_ids[real]
        new = chosen.max_length - prompt.shape[1]
        longest, known = (
            max(counts) + new - 1,
            self._decoder.positions,
        )  # the last token is not read
        if known is not None and longest > known:
            raise InputError(
                f"texts of {longest:,} tokens, but the model has {known:,} positions; lower max_length"
            )
        rows = len(texts) * (chosen.beams if chosen.beams > 1 else copies)
        writing = self._decoder.write(len(texts), sum(counts) + rows * min(new, ROOM))
        if states is not None:
            writing.read(states, lengths.tolist())
        logits = writing.add(tokens, counts)
        if chosen.beams > 1:
            found = write_beams(writing, logits, prompt, chosen)
        else:
            if copies > 1:
                texts = texts.repeat_interleave(copies)
                writing.select(texts)
                logits, prompt = logits[texts], prompt[texts]
            found = write(writing, logits, prompt, chosen, seeds)
        return found
