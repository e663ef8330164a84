"""Translation of text by finished networks in PyTorch."""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any

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
        device, turn = networks[0].output.bias.device, Lock()
        self.encoding_threads = text_threads(device)
        self._greedy = partial(_in_turn, turn, greedy, networks)
        self._search = partial(_in_turn, turn, search, networks)
        self._force_decode = partial(
            _in_turn, turn, force_decode, Ensemble(networks), device=device
        )


def _in_turn(turn: Lock, function: Callable, *given: Any, **named: Any) -> Any:
    with turn:
        return function(*given, **named)
