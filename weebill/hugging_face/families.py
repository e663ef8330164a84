"""Registry of families by their base models' classes in transformers; families are loaded on use."""

import transformers
from torch import nn

from weebill.errors import InputError
from weebill.hugging_face.family import Family
from weebill.registry import Registry

# A new family is a file with a class that is a `family.Family`, and an entry here.
FAMILIES: Registry[type[Family]] = Registry(
    {
        "XLMRobertaModel": "weebill.hugging_face.xlm_roberta:XLMRoberta",
        "BartModel": "weebill.hugging_face.bart:Bart",
        "MarianModel": "weebill.hugging_face.bart:Marian",
        "GPT2Model": "weebill.hugging_face.gpt2:GPT2",
        "T5Model": "weebill.hugging_face.t5:T5",
        "T5ForConditionalGeneration": "weebill.hugging_face.t5:T5",  # contains no T5Model
    }
)


def prunable(model: nn.Module) -> Family:
    """Return the prunable view of a model that is, or contains, one base model of a family.

    Raises InputError if it contains none, or several.
    """
    found = [
        (name, module)
        for module in model.modules()
        for name in FAMILIES
        if isinstance(module, getattr(transformers, name))
    ]
    if len(found) != 1:
        *names, last = FAMILIES
        raise InputError(
            f"{type(model).__name__} holds {len(found)} models that can be pruned, expected one: "
            f"{', '.join(names)} or {last}"
        )
    name, core = found[0]
    return FAMILIES[name](model, core)


def model_types() -> set[str]:
    """Return the values of `model_type` in config.json for all families."""
    return {getattr(transformers, name).config_class.model_type for name in FAMILIES}
