"""Search over any number of sentences in batches; results are in the order of the input."""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from weebill.translation.model.batch import pad
from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.search.beam import beam_batch
from weebill.translation.search.cuts import log_cut_count
from weebill.translation.search.ensemble import Ensemble, evaluating
from weebill.translation.search.greedy import greedy_batch
from weebill.translation.search.options import Candidate, SearchOptions
from weebill.translation.search.prepacked import prepacked
from weebill.translation.search.sampling import sample_batch

Progress = Callable[[int], None]


def search(
    networks: Sequence[nn.Module],
    sources: Sequence[Sequence[int]],
    options: SearchOptions | None = None,
    progress: Progress | None = None,
) -> list[list[Candidate]]:
    """Return the n best translations of each source, best first, as scored candidates.

    networks: one, or several with one vocabulary, averaged.  sources: pieces, EOS last, as
    `Vocabulary.encode` returns them.  A source of EOS only has one candidate, the empty translation,
    with score 0.  Results of a sentence do not depend on the others, up to the rounding of sums.
    progress: called with the number of sentences of each finished batch.
    Raises InputError if a network's output is NaN.
    """
    options = options or SearchOptions()
    results = [[Candidate((), 0.0)] for _ in sources]
    ensemble = Ensemble(networks)
    with evaluating(networks):
        for batch, source, mask, limits in _batches(ensemble, sources, options, progress):
            found = search_batch(ensemble, source, mask, limits, options)
            for index, candidates in zip(batch, found, strict=True):
                results[index] = candidates
    return results


def search_batch(
    ensemble: Ensemble, source: Tensor, mask: Tensor, limits: Tensor, options: SearchOptions
) -> list[list[Candidate]]:
    """Run `sample_batch` if the options ask for samples, else `beam_batch`."""
    found = beam_batch if options.sampling is None else sample_batch
    return found(ensemble, source, mask, limits, options)


def greedy(
    networks: Sequence[nn.Module],
    sources: Sequence[Sequence[int]],
    options: SearchOptions | None = None,
    progress: Progress | None = None,
) -> list[list[int]]:
    """Return the pieces of each source's greedy translation: faster than `search` with beam 1, without scores."""
    options = options or SearchOptions()
    results: list[list[int]] = [[] for _ in sources]
    ensemble = Ensemble(networks)
    with evaluating(networks):
        for batch, source, mask, limits in _batches(ensemble, sources, options, progress):
            found = greedy_batch(ensemble, source, mask, limits, options.allow_unknown)
            for index, tokens in zip(batch, found, strict=True):
                results[index] = tokens
    return results


def greedy_translations(
    network: nn.Module, vocabulary: Vocabulary, sentences: Sequence[str], text: str | None = None
) -> list[str]:
    """Return the greedy translation of each sentence, as text.

    text: a name for the sentences; if given, the number of cut sentences is logged.
    """
    sources, options = vocabulary.encode(list(sentences)), SearchOptions(batch_size=64)
    if text is not None:
        log_cut_count(text, sources, options)
    with prepacked([network]):
        return vocabulary.decode(greedy([network], sources, options))


def _batches(
    ensemble: Ensemble,
    sources: Sequence[Sequence[int]],
    options: SearchOptions,
    progress: Progress | None,
) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor]]:
    """Yield indices, padded sources (b, s), their mask and the length limits (b,) of each batch."""
    cropped = [options.crop(source) for source in sources]
    lengths = [len(source) - 1 for source in cropped]
    for batch in options.batches(lengths):
        padded = pad([cropped[index] for index in batch])
        source, mask = (side.to(ensemble.device) for side in padded)
        limits = torch.tensor([options.limit(lengths[index]) for index in batch])
        yield batch, source, mask, limits.to(ensemble.device)
        if progress is not None:
            progress(len(batch))
