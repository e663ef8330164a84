"""Recipes to prune, by the methods that `pruning.methods` names."""

from typing import Annotated, Any

from weebill.pruning.method import AtOnce
from weebill.pruning.methods import METHODS
from weebill.settings import Chosen

Method = Annotated[Any, Chosen("method", METHODS)]
# A metric is trained already.
MetricMethod = Annotated[
    Any,
    Chosen(
        "method",
        {name: method for name, method in METHODS.items() if issubclass(method, AtOnce)},
        without=("reset_to",),
        defaults={"ranking": "layer", "blocks": "*"},
    ),
]
