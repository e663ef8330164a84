"""Search with a compiled decoder: greedy, by sampling, or with beams.  Finished texts leave the batch."""

import torch
from torch import Tensor
from torch.nn import functional

from weebill.generation.search_options import SearchOptions, changed
from weebill.kernels.decoder import Writing
from weebill.kernels.largest import largest

NEVER = -1e9  # score below all others


def write(
    writing: Writing, logits: Tensor, tokens: Tensor, options: SearchOptions, seeds: list[int]
) -> Tensor:
    """Write one text in each row: at each step the most probable token, or a drawn one.

    logits: (rows, vocabulary) after the prompt.  tokens: the prompt (rows, length).  seeds: seed of each row's draws.
    Returns (rows, length of the longest), padded.
    """
    found = tokens.new_full((len(tokens), options.max_length), options.pad)
    draws = [torch.Generator().manual_seed(seed) for seed in seeds]
    rows = torch.arange(len(tokens))
    while True:
        scores = changed(logits, tokens, options.processors)
        if options.sample:
            shares = changed(scores, tokens, options.warpers).softmax(1)
            drawn = [
                torch.multinomial(share, 1, generator=draws[row])
                for share, row in zip(shares, rows.tolist(), strict=True)
            ]
            chosen = torch.stack(drawn)
        else:
            # PyTorch's argmax takes 20 times as long on CPUs.
            chosen = torch.from_numpy(scores.numpy().argmax(1, keepdims=True))
        tokens = torch.cat([tokens, chosen], 1)
        going = ~torch.isin(chosen[:, 0], options.ends)
        if tokens.shape[1] == options.max_length:
            going[:] = False
        if not going.all():
            found[rows[~going], : tokens.shape[1]] = tokens[~going]
            if not going.any():
                return found[:, : tokens.shape[1]]
            tokens, rows = tokens[going], rows[going]
            writing.select(going.nonzero()[:, 0])
        logits = writing.add(tokens[:, -1], [1] * len(tokens))


def write_beams(writing: Writing, logits: Tensor, tokens: Tensor, options: SearchOptions) -> Tensor:
    """Write the best texts of a beam for each row, as the library does (transformers, `_beam_search`).

    logits: (rows, vocabulary) after the prompt.  tokens: the prompt (rows, length).
    Returns (rows · returned, length of the longest), padded, the best first.
    """
    return Beams(writing, tokens, options).run(logits)


class Beams:
    """Hypotheses of n unfinished texts: for each text, `beams` running ones and `beams` that have ended."""

    def __init__(self, writing: Writing, tokens: Tensor, options: SearchOptions):
        self.writing, self.options = writing, options
        count, self.prompt = tokens.shape
        shape = count, options.beams, options.max_length
        self.texts = torch.arange(count)
        self.running = tokens.new_full(shape, options.pad)  # tokens
        self.running[:, :, : self.prompt] = tokens[:, None]
        self.scores = torch.zeros(shape[:2])
        self.scores[:, 1:] = NEVER  # one hypothesis until there are others
        self.ended, self.ended_scores = self.running.clone(), torch.full(shape[:2], NEVER)
        self.has_ended = torch.zeros(shape[:2], dtype=torch.bool)
        self.lengths = tokens.new_zeros(shape[:2])  # of hypotheses that have ended
        self.found, self.longest = tokens.new_empty(count, options.returned, options.max_length), 0
        writing.select(self.texts.repeat_interleave(options.beams))

    def run(self, logits: Tensor) -> Tensor:
        """Write all texts."""
        options = self.options
        logits = logits.repeat_interleave(options.beams, 0)
        for length in range(self.prompt, options.max_length):
            from_beam = self.step(logits, length)
            done = self.done(length + 1)
            if done.any():
                self.found[self.texts[done]] = self.ended[done, : options.returned]
                self.longest = max(self.longest, int(self.lengths[done, : options.returned].max()))
                self.keep(~done)
            if not len(self.texts):
                break
            rows = from_beam + torch.arange(len(from_beam))[:, None] * options.beams
            self.writing.select(rows[~done].flatten())
            newest = self.running[:, :, length].flatten()
            logits = self.writing.add(newest, [1] * len(newest))
        return self.found.flatten(0, 1)[:, : self.longest]

    def step(self, logits: Tensor, length: int) -> Tensor:
        """Add a token to every running hypothesis; return the numbers of the hypotheses they continue, (n, beams)."""
        options, beams = self.options, self.options.beams
        so_far = self.running[:, :, :length].flatten(0, 1)
        scores = changed(logits.log_softmax(1), so_far, options.processors)
        scores = (scores.view(-1, beams, logits.shape[1]) + self.scores[:, :, None]).flatten(1)
        enough = max(2, 1 + len(options.ends)) * beams  # enough to go on even if all beams end
        best, where = largest(scores, enough)
        from_beam, token = where // logits.shape[1], where % logits.shape[1]
        candidates = _chosen(self.running, from_beam)
        candidates[:, :, length] = token
        ends = torch.isin(token, options.ends)
        if length + 1 == options.max_length:
            ends[:] = True
        self.end(candidates, best, ends, length)
        self.scores, going = (best + ends * NEVER).topk(beams)
        self.running = _chosen(candidates, going)
        return from_beam.gather(1, going)

    def end(self, candidates: Tensor, scores: Tensor, ends: Tensor, length: int) -> None:
        """Replace worse ended texts by the best candidates that end, if these are among the first `beams`."""
        ends = ends & (torch.arange(ends.shape[1]) < self.options.beams)
        scores = scores / (length + 1 - self.prompt) ** self.options.length_penalty + ~ends * NEVER
        self.ended_scores, best = torch.cat([self.ended_scores, scores], 1).topk(self.options.beams)
        self.ended = _chosen(torch.cat([self.ended, candidates], 1), best)
        self.has_ended = torch.cat([self.has_ended, ends], 1).gather(1, best)
        self.lengths = functional.pad(self.lengths, (0, ends.shape[1]), value=length + 1).gather(
            1, best
        )

    def done(self, length: int) -> Tensor:
        """Return True for each text that no running hypothesis can improve, (n,), by the library's criterion."""
        options = self.options
        if length == options.max_length:
            return torch.ones(len(self.texts), dtype=torch.bool)
        reach = length
        if options.early_stopping == "never" and options.length_penalty > 0:
            reach = options.max_length
        hoped = self.scores[:, 0] / (reach - self.prompt) ** options.length_penalty
        worst = torch.where(self.has_ended, self.ended_scores.amin(1, keepdim=True), NEVER)
        hopeless = ~(hoped[:, None] > worst).any(1)
        return hopeless | (self.has_ended.all(1) & (options.early_stopping is True))

    def keep(self, texts: Tensor) -> None:
        """Continue with some texts only, given by a mask (n,)."""
        for name in ("texts", "running", "scores", "ended", "ended_scores", "has_ended", "lengths"):
            setattr(self, name, getattr(self, name)[texts])


def _chosen(hypotheses: Tensor, which: Tensor) -> Tensor:
    """Return the hypotheses (n, k, length) of numbers (n, chosen): (n, chosen, length)."""
    return hypotheses.take_along_dim(which[:, :, None], 1)
