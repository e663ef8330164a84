"""The families by their base models."""

from torch import nn
from transformers import (
    BartModel,
    GPT2Model,
    MarianModel,
    PreTrainedModel,
    T5ForConditionalGeneration,
    T5Model,
    XLMRobertaModel,
)

from weebill.errors import InputError
from weebill.hugging_face.bart import Bart, Marian
from weebill.hugging_face.family import Family
from weebill.hugging_face.gpt2 import GPT2
from weebill.hugging_face.t5 import T5
from weebill.hugging_face.xlm_roberta import XLMRoberta

FAMILIES: dict[type[PreTrainedModel], type[Family]] = {
    XLMRobertaModel: XLMRoberta,
    BartModel: Bart,
    MarianModel: Marian,
    GPT2Model: GPT2,
    T5Model: T5,
    T5ForConditionalGeneration: T5,  # which holds no T5Model
}


def prunable(model: nn.Module) -> Family:
    """Return the view for pruning of a model that is, or holds, one base model of a family.

    Raises InputError where it holds none, or several.
    """
    found = [
        (family, module)
        for module in model.modules()
        for base, family in FAMILIES.items()
        if isinstance(module, base)
    ]
    if len(found) != 1:
        *names, last = (base.__name__ for base in FAMILIES)
        raise InputError(
            f"{type(model).__name__} holds {len(found)} models that can be pruned, expected one: "
            f"{', '.join(names)} or {last}"
        )
    family, core = found[0]
    return family(model, core)
