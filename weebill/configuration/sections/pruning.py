"""Settings of pruning recipes: a choice among the methods in `pruning.methods`."""

from typing import Annotated, Any

from weebill.pruning.method import AtOnce
from weebill.pruning.methods import METHODS
from weebill.settings import Chosen

Method = Annotated[Any, Chosen("method", METHODS)]
# A metric is already trained, so `reset_to` has no meaning for it.
MetricMethod = Annotated[
    Any,
    Chosen(
        "method",
        {name: method for name, method in METHODS.items() if issubclass(method, AtOnce)},
        without=("reset_to",),
        defaults={"ranking": "layer", "blocks": "*"},
    ),
]
