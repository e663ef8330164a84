"""Networks of PyTorch in the runtime, without a model folder."""

from collections.abc import Sequence

from weebill.kernels.extension import PORTABLE
from weebill.quantization.files import section
from weebill.quantization.weights import PackedWeight
from weebill.runtime import searching
from weebill.runtime.portable import PortableEngine
from weebill.translation.model.folder import own_tensors
from weebill.translation.model.network import Translator
from weebill.translation.search.run import divide
from weebill_runtime.batching import Sources
from weebill_runtime.compiled import Engine, packed
from weebill_runtime.options import Candidate, SearchOptions
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.student import Student
from weebill_runtime.text_translator import Progress
from weebill_runtime.weights import Weights, listed_numbers


class Runtime(Student):
    """Networks with equal vocabularies, averaged as an ensemble, for fast search.

    isa: instruction set of the engine, or `portable` for PyTorch.
    precision: type of the products of float32 weights.
    Raises InputError if the engine cannot hold a network.
    """

    def __init__(
        self,
        networks: Sequence[Translator],
        isa: str,
        shortlist: Shortlist | None = None,
        precision: str = "float32",
    ):
        engines = [
            PortableEngine(one, precision)
            if isa == PORTABLE
            else Engine(*packed(weights_of(one), isa, precision))
            for one in networks
        ]
        super().__init__(engines, networks[0].architecture, shortlist)

    def translate(
        self, sources: Sources, options: SearchOptions, progress: Progress | None = None
    ) -> list[list[int]]:
        """Translate sources, which end in EOS, greedily; return pieces without their ends."""
        if len(self.engines) > 1:
            return searching.greedy(self, sources, options, progress)
        return super().translate(sources, options, progress)

    def _divide(self, sources, lengths, options) -> list[list[int]]:
        device = searching.device_of_student(self)
        if device.type == "cpu":
            return super()._divide(sources, lengths, options)
        return divide([engine.network for engine in self.engines], lengths, options, device)

    def search(
        self, sources: Sources, options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Candidate]]:
        """Return the n best translations of each source, like `searching.search`."""
        return searching.search(self, sources, options, progress)


def weights_of(network: Translator) -> Weights:
    """Return a network's numbers as weights of the runtime; float32 numbers on the CPU share their memory."""
    tensors = {
        name: (one.float() if one.is_floating_point() else one).detach().cpu().numpy()
        for name, one in own_tensors(network).items()
    }
    grids = (one.grid for one in network.modules() if isinstance(one, PackedWeight))
    if (grid := next(grids, None)) is None:
        return Weights(network.architecture, tensors)
    listed = listed_numbers(section(grid.name))
    return Weights(network.architecture, tensors, grid.name, listed)
