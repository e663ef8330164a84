"""Translation of text by finished networks in PyTorch."""

from collections.abc import Sequence
from functools import partial

from weebill.kernels.cuda import text_threads
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.forced import force_decode
from weebill.translation.search.run import greedy, search
from weebill_runtime.text_translator import PieceTranslator
from weebill_runtime.vocabulary import AnyVocabulary


class NetworkTranslator(PieceTranslator):
    """Translator by Weebill's networks with equal vocabularies, averaged as an ensemble."""

    def __init__(self, networks: Sequence, vocabulary: AnyVocabulary) -> None:
        self.vocabulary = vocabulary
        self._greedy, self._search = partial(greedy, networks), partial(search, networks)
        device = networks[0].output.bias.device
        self.encoding_threads = text_threads(device)
        self._force_decode = partial(force_decode, Ensemble(networks), device=device)
