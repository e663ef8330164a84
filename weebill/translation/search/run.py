"""Search over any number of sentences in batches, and greedy search; results are in the order of the input."""

import itertools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from weebill.kernels.cuda import text_threads
from weebill.translation.model.batch import pad
from weebill.translation.model.network import START, Translator
from weebill.translation.search.beam import beam_batch, check_found
from weebill.translation.search.device_batches import card_memory, device_batches
from weebill.translation.search.ensemble import FINISHED_SHARE, Ensemble
from weebill.translation.search.fixed import decoder_of
from weebill.translation.search.fixed_beam import fixed_beam
from weebill.translation.search.fixed_greedy import fixed_greedy
from weebill.translation.search.prepacked import prepacked
from weebill.translation.search.sampling import sample_batch
from weebill_runtime.options import Candidate, SearchOptions, find_cuts, log_cut_count
from weebill_runtime.text_translator import Progress
from weebill_runtime.vocabulary import EOS, UNK, AnyVocabulary

IN_TRAINING = 256  # sentences of a batch on a GPU whose memory a training needs at the same time


def search(
    networks: Sequence[nn.Module],
    sources: Sequence[Sequence[int]],
    options: SearchOptions = SearchOptions(),
    progress: Progress | None = None,
) -> list[list[Candidate]]:
    """Return the n best translations of each source, best first, as scored candidates.

    networks: one, or several with one vocabulary, averaged.  sources: pieces, EOS last; EOS alone has only the empty
    translation, with score 0.  A sentence's results do not depend on other sentences, except for rounding of sums.
    progress: called with each finished batch's number of sentences.  Raises InputError if a network's output is NaN.
    """
    return _run(search_batch, [Candidate((), 0.0)], networks, sources, options, progress)


def greedy(
    networks: Sequence[nn.Module],
    sources: Sequence[Sequence[int]],
    options: SearchOptions = SearchOptions(),
    progress: Progress | None = None,
) -> list[list[int]]:
    """Return the pieces of each source's greedy translation: faster than `search` with beam 1, without scores.

    Raises InputError if a network's output is NaN.
    """

    def find(ensemble, source, mask, limits, options):
        return greedy_batch(ensemble, source, mask, limits, options.allow_unknown)

    return _run(find, [], networks, sources, options, progress)


def greedy_translations(
    network: nn.Module,
    vocabulary: AnyVocabulary,
    sentences: Sequence[str],
    text: str | None = None,
) -> list[str]:
    """Return each sentence's greedy translation; if `text` names the sentences, the number of cut ones is logged."""
    device = network.output.bias.device
    rows = (IN_TRAINING if network.training else None) if device.type == "cuda" else 64
    options = SearchOptions(batch_size=rows)  # None: a GPU chooses
    sources = vocabulary.encode_input(list(sentences), threads=text_threads(device))
    if text is not None:
        cuts = find_cuts(sources, options)
        log_cut_count(text, len(cuts), len(sources), options.max_source_tokens)
    with prepacked([network]):
        return vocabulary.target.decode(greedy([network], sources, options))


@torch.inference_mode()
def _run(find: Callable, empty: list, networks, sources, options, progress) -> list:
    """Search each batch by the function `find`, without dropout; `empty` is the result of a source of EOS only."""
    training = [network.training for network in networks]
    ensemble, results = Ensemble(networks, not any(training)), [list(empty) for _ in sources]
    tensors = itertools.chain(networks[0].parameters(), networks[0].buffers())
    device = next((tensor.device for tensor in tensors), torch.device("cpu"))
    cropped = [options.crop(source) for source in sources]
    lengths = [len(source) - 1 for source in cropped]
    try:
        for network in networks:
            network.eval()
        for batch in divide(networks, lengths, options, device):
            source, mask = (side.to(device) for side in pad([cropped[index] for index in batch]))
            limits = torch.tensor([options.limit(lengths[index]) for index in batch])
            found = find(ensemble, source, mask, limits.to(device), options)
            for index, result in zip(batch, found, strict=True):
                results[index] = result
            if progress is not None:
                progress(len(batch))
    finally:
        ensemble.free()
        for network, mode in zip(networks, training, strict=True):
            network.train(mode)
    return results


def divide(
    networks: Sequence[Translator],
    lengths: Sequence[int],
    options: SearchOptions,
    device: torch.device,
) -> list[list[int]]:
    """Divide sources of these lengths, ends excluded, into batches; a GPU chooses if the options name no size."""
    if device.type != "cuda" or options.batch_size is not None:
        return options.batches(lengths)
    value_bytes = max(network.output.bias.element_size() for network in networks)
    shapes = [network.architecture for network in networks]
    return device_batches(lengths, options, shapes, value_bytes, card_memory(device))


def search_batch(
    ensemble: Ensemble, source: Tensor, mask: Tensor, limits: Tensor, options: SearchOptions
) -> list[list[Candidate]]:
    """Run `sample_batch` if the options ask for samples, else `beam_batch`; a GPU's beams are in fixed memory."""
    if options.sampling is not None:
        return sample_batch(ensemble, source, mask, limits, options)
    if source.is_cuda:
        decoder = decoder_of(ensemble, source.device)
        return fixed_beam(decoder, ensemble, source, mask, limits, options)
    return beam_batch(ensemble, source, mask, limits, options)


def greedy_batch(
    ensemble: Ensemble, source: Tensor, mask: Tensor, limits: Tensor, allow_unknown: bool = False
) -> list[list[int]]:
    """Return the pieces of each sentence's translation, without its end; the first of equally probable pieces wins.

    source, mask: (b, s).  limits: (b,), the largest number of pieces, end included.  A GPU searches in fixed memory.
    Raises InputError if the networks' output is NaN.
    """
    if source.is_cuda:
        decoder = decoder_of(ensemble, source.device)
        return fixed_greedy(decoder, ensemble, source, mask, limits, allow_unknown)
    states = ensemble.start(source, mask)
    tokens = torch.full_like(limits, START)
    live = torch.ones_like(limits, dtype=torch.bool)
    ids = list(range(len(limits)))  # sentence of each row
    translations: list[list[int]] = [[] for _ in ids]
    for length in itertools.count(1):
        values, states = ensemble.step(tokens, states)
        if not allow_unknown:
            values[:, UNK] = -torch.inf
        tokens = values.argmax(-1)  # that of a NaN, if there is one
        check_found([values.gather(1, tokens[:, None])[live].isfinite().all()])
        live &= (tokens != EOS) & (length < limits)
        going = live.tolist()
        if not any(going):
            return translations
        for sentence, token, goes in zip(ids, tokens.tolist(), going, strict=True):
            if goes:
                translations[sentence].append(token)
        if going.count(False) >= FINISHED_SHARE * len(going):
            rows = live.nonzero().squeeze(1)
            states = [state.keep(rows) for state in states]
            tokens, limits, live = tokens[rows], limits[rows], live[rows]
            ids = [sentence for sentence, goes in zip(ids, going, strict=True) if goes]
