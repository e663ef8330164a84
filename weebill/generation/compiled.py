"""Text from an int8 model's compiled decoder: the library's `generate` without library code between tokens."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers import PreTrainedModel

from weebill.errors import InputError
from weebill.generation.decoders import describe, encoder_limits
from weebill.generation.int8_facts import int8_weights
from weebill.generation.search import write, write_beams
from weebill.generation.search_options import SearchOptions, search_options
from weebill.kernels.decoder import CompiledDecoder
from weebill.kernels.int8_layers import in_threads

ROOM = 256  # new tokens of each text for which memory is reserved from the start
ALONE = 96  # tokens of a text from which an encoder is faster with it alone than with others and padding


class CompiledGenerator:
    """Generator by an int8 model like GPT-2, OPT, BART or T5, whose weights it shares.

    Encoders run in PyTorch with int8 layers.  A text depends neither on the others of a batch, nor on threads.
    """

    def __init__(self, model: PreTrainedModel):
        """Take a model of `load_int8`.  Raises InputError if the compiled decoder cannot run it."""
        if next(int8_weights(model), None) is None:
            raise InputError(
                f"{type(model).__name__}: its weights are not int8; write it by `save_int8` and read it by "
                "`load_int8`"
            )
        self.model = model
        self._decoder = CompiledDecoder(describe(model))
        self._known = self._decoder.vocabulary, None  # pieces, and most tokens, of its input
        if model.config.is_encoder_decoder:
            self._known = encoder_limits(model)

    @torch.inference_mode()
    def generate(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        seed: int = 0,
        **options: Any,
    ) -> Tensor:
        """Return tokens as the model's `generate` does: (texts · returned, length), padded at the end.

        input_ids: (texts, length).  attention_mask: of the same shape, 0 for padding, which may be anywhere or, if
        layers see a window of tokens, at the ends.  Without it, a decoder's padding is recognised by its token.
        seed: text i draws with seed + i.  options: of the library's `generate`; see `search_options`.
        """
        pairs = self.model.config.is_encoder_decoder
        chosen = search_options(self.model, 1 if pairs else input_ids.shape[-1], options)
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
            if not pairs and chosen.pad >= 0 and chosen.pad not in chosen.ends:
                attention_mask = (input_ids != chosen.pad).long()
        input_ids, real = input_ids.long(), attention_mask.bool()
        self._check(input_ids, real)
        new = chosen.max_length - (1 if pairs else input_ids.shape[1])
        longest = (1 if pairs else int(real.sum(1).max())) + new - 1  # the last token is not read
        if (known := self._decoder.positions) is not None and longest > known:
            raise InputError(
                f"texts of {longest:,} tokens, but the model has {known:,} positions; lower max_length"
            )
        states, prompts = None, input_ids
        if pairs:
            states = self._encode(input_ids, attention_mask)
            prompts = input_ids.new_full((len(input_ids), 1), chosen.start)

        @torch.inference_mode()
        def write_some(texts: Tensor) -> Tensor:
            copies = chosen.returned
            first = seed + int(texts[0]) * copies
            seeds = list(range(first, first + len(texts) * copies))
            some = None if states is None else torch.cat([states[text] for text in texts.tolist()])
            return self._write(prompts[texts], real[texts], some, chosen, seeds)

        threads = min(torch.get_num_threads(), len(input_ids))
        parts = torch.arange(len(input_ids)).chunk(threads)
        found = in_threads(write_some, parts)
        length = max(part.shape[1] for part in found)
        return torch.cat(
            [pad(part, (0, length - part.shape[1]), value=chosen.pad) for part in found]
        )

    def _encode(self, tokens: Tensor, mask: Tensor) -> list[Tensor]:
        """Return the encoder's states at the real tokens of each text, (tokens, width) each."""
        encoder, real = self.model.get_encoder(), mask.bool()
        ends = [int(there.nonzero()[-1]) + 1 for there in real]  # without the padding behind them
        short = [text for text, end in enumerate(ends) if end < ALONE]
        alone = [[text] for text, end in enumerate(ends) if end >= ALONE]
        states = {}
        for texts in [*alone, *[short] * bool(short)]:
            part = texts, slice(max(ends[text] for text in texts))
            found = encoder(input_ids=tokens[part], attention_mask=mask[part]).last_hidden_state
            states |= {
                text: one[there] for text, one, there in zip(texts, found, real[part], strict=True)
            }
        return [states[text] for text in range(len(tokens))]

    def _check(self, tokens: Tensor, real: Tensor) -> None:
        """Raise InputError if there is no text, one is empty or has unknown tokens, or the mask has another shape."""
        if tokens.dim() != 2 or not len(tokens) or real.shape != tokens.shape:
            raise InputError(
                f"input_ids {(*tokens.shape,)}, attention_mask {(*real.shape,)}; give both as (texts, length)"
            )
        if not real.any(1).all():
            raise InputError(f"text {int(real.any(1).long().argmin()) + 1} is empty; leave it out")
        pieces, most = self._known
        if most is not None and tokens.shape[1] > most:
            raise InputError(
                f"texts of {tokens.shape[1]:,} tokens, but the model reads {most:,}; cut them"
            )
        unknown = ((tokens < 0) | (tokens >= pieces)) & real
        if unknown.any():
            text, place = unknown.nonzero()[0].tolist()
            raise InputError(
                f"text {text + 1}: token {int(tokens[text, place]):,}, but the model has "
                f"{pieces:,}; use its own tokenizer"
            )
        ends = real[:, 1:] < real[:, :-1]  # a token before, padding after
        begins = real[:, 1:] > real[:, :-1]
        holes = (ends.cumsum(1) > 0) & begins
        if self._decoder.has_window and holes.any():
            text = int(holes.any(1).long().argmax()) + 1
            raise InputError(
                f"text {text}: padding stands inside it, which the model's window would count; leave it out there"
            )

    def _write(
        self,
        prompts: Tensor,
        real: Tensor,
        states: Tensor | None,
        options: SearchOptions,
        seeds: list[int],
    ) -> Tensor:
        """Write some texts together; real: mask of what they read; states: of an encoder, (real tokens, width)."""
        count, lengths = len(prompts), real.sum(1).tolist()
        counts, tokens = (
            ([1] * count, prompts.flatten()) if states is not None else (lengths, prompts[real])
        )
        rows = count * max(options.beams, options.returned)
        new = options.max_length - prompts.shape[1]
        writing = self._decoder.write(count, sum(counts) + rows * min(new, ROOM))
        if states is not None:
            writing.read(states, lengths)
        logits = writing.add(tokens, counts)
        if options.beams > 1:
            return write_beams(writing, logits, prompts, options)
        if options.returned > 1:
            texts = torch.arange(count).repeat_interleave(options.returned)
            writing.select(texts)
            logits, prompts = logits[texts], prompts[texts]
        return write(writing, logits, prompts, options, seeds)
