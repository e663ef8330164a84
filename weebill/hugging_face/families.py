"""Families of Hugging Face models as `Prunable`: their base class, and their registry.

The library's fast attention returns no weights.  While there is a recorder, the model uses the explicit ("eager")
attention, whose sums differ in the last bits.  Without heads, modules of the library do not run, or do not count
positions.  Such a module gets another class of the family; it keeps its parameters, its name and its hooks.
"""

import inspect
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import ClassVar, NamedTuple

from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, EncoderDecoderCache
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from weebill.errors import InputError
from weebill.pruning.structure import (
    AttentionBlock,
    FeedForwardBlock,
    LayerStack,
    Projection,
    Prunable,
    Recorder,
    whole,
)
from weebill.registry import Registry

# A new family is a file with a class that is a `Family`, and an entry here for its base model's class.  One class
# serves models that differ only in their modules' classes.
FAMILIES: Registry[type["Family"]] = Registry(
    {
        "XLMRobertaModel": "weebill.hugging_face.xlm_roberta:XLMRoberta",
        "XLMRobertaXLModel": "weebill.hugging_face.xlm_roberta:XLMRoberta",
        "BertModel": "weebill.hugging_face.xlm_roberta:XLMRoberta",
        "RemBertModel": "weebill.hugging_face.xlm_roberta:XLMRoberta",
        "BartModel": "weebill.hugging_face.bart:Bart",
        "MarianModel": "weebill.hugging_face.bart:Bart",
        "GPT2Model": "weebill.hugging_face.gpt2:GPT2",
        "T5Model": "weebill.hugging_face.t5:T5",
        "T5ForConditionalGeneration": "weebill.hugging_face.t5:T5",  # contains no T5Model
        "MT5Model": "weebill.hugging_face.t5:T5",
        "MT5ForConditionalGeneration": "weebill.hugging_face.t5:T5",
        "MBartModel": "weebill.hugging_face.bart:Bart",
        "M2M100Model": "weebill.hugging_face.bart:Bart",
        "PegasusModel": "weebill.hugging_face.bart:Bart",
        "OPTModel": "weebill.hugging_face.bart:OPT",
        "LlamaModel": "weebill.hugging_face.llama:Llama",
        "MistralModel": "weebill.hugging_face.llama:Llama",
        "Qwen2Model": "weebill.hugging_face.llama:Llama",
        "Qwen3Model": "weebill.hugging_face.llama:Llama",
    }
)


def prunable(model: nn.Module, purpose: str = "pruned") -> "Family":
    """Return the prunable view of a model that holds one base model of a family.  Raises InputError otherwise.

    purpose: participle for the message, which says that models "can be" this.
    """
    found = [(name, module) for module in model.modules() if (name := family_name(type(module)))]
    if len(found) != 1:
        *names, last = FAMILIES
        raise InputError(
            f"{type(model).__name__} holds {len(found)} models that can be {purpose}, expected one: "
            f"{', '.join(names)} or {last}"
        )
    name, core = found[0]
    return FAMILIES[name](model, core)


def family_name(kind: type) -> str | None:
    """Return the entry of FAMILIES for a class of transformers' models or a subclass; None for others."""
    # By names, because to import the models of all families takes a second.
    for one in kind.__mro__:
        if one.__name__ in FAMILIES and one.__module__.startswith("transformers."):
            return one.__name__
    return None


def model_types() -> set[str]:
    """Return the values of `model_type` in config.json for all families."""
    return {kind for kind, name in MODEL_MAPPING_NAMES.items() if name in FAMILIES}


class Stack(NamedTuple):
    """Paths of a stack of layers in the library's modules.

    layers: path of the list.  depth: key of the configuration for their number.  self_attention, cross_attention:
    paths in a layer.  masked: path of the module whose attention_mask masks the queries; None: the stack's name.
    """

    name: str
    layers: str
    depth: str
    self_attention: str
    cross_attention: str | None = None
    masked: str | None = None


class Family(Prunable):
    """Base of every family's view of a model and of `core`, the base model in it, whose blocks may be cut.

    maps: names of an attention's query, key, value and output map.  feed_forward: paths in a layer of both its maps.
    heads, head_size, width: names of an attention's attributes.  headless: class of an attention without heads, see
    `become`.  weights_at: index of the attention weights in an attention's output.  activated: names of linear maps
    and of activations that follow them in the same module; int8 computes both in one step.
    A family with `grouped` attention has no attribute `heads`: its heads are groups, which it counts by maps' widths.
    """

    stacks: ClassVar[tuple[Stack, ...]]
    maps: ClassVar[tuple[str, ...]]
    feed_forward: ClassVar[tuple[str, str]]
    heads: ClassVar[str]
    head_size: ClassVar[str]
    width: ClassVar[str | None] = None
    headless: ClassVar[type | None] = None
    grouped: ClassVar[bool] = False
    weights_at: ClassVar[int] = 1
    activated: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(self, model: nn.Module, core: PreTrainedModel):
        self.model, self.core = model, core
        self._hooks: dict[nn.Module, list] = {}  # hooks of the recorded attention modules
        self._implementation = ""  # original implementation of attention, to restore

    def projections(
        self, layer: nn.Module, attention: nn.Module
    ) -> Sequence[Projection | nn.Module]:
        """Return query, key, value and output map of an attention module."""
        return [getattr(attention, name) for name in self.maps]

    def feed_forward_block(self, name: str, layer: nn.Module) -> FeedForwardBlock:
        """Make the feed-forward block of a layer."""
        return FeedForwardBlock(name, *map(layer.get_submodule, self.feed_forward))

    def attention_blocks(self) -> list[AttentionBlock]:
        """List encoder.N.self_attention, then decoder.N.self_attention and decoder.N.cross_attention."""
        return [
            self.attention_block(f"{name}.{kind}", stack, layer, path)
            for name, stack, layer in self._layers()
            for kind in ("self_attention", "cross_attention")
            if (path := getattr(stack, kind)) is not None
        ]

    def feed_forward_blocks(self) -> list[FeedForwardBlock]:
        """List encoder.N.feed_forward, then decoder.N.feed_forward."""
        return [
            self.feed_forward_block(f"{name}.feed_forward", layer)
            for name, _, layer in self._layers()
        ]

    def layer_stacks(self) -> list[LayerStack]:
        """Return the stacks of encoder and decoder."""
        found = []
        for stack in self.stacks:
            layers = self.core.get_submodule(stack.layers)
            set_depth = partial(self.set_depth, stack, layers, layers[0])
            found.append(LayerStack(stack.name, layers, len(layers), set_depth))
        return found

    def set_depth(self, stack: Stack, layers: nn.ModuleList, former: nn.Module, depth: int) -> None:
        """Record the new number of layers, and their places in the cache; former: the first layer before the cut."""
        setattr(self.core.config, stack.depth, depth)
        for index, layer in enumerate(layers):
            for module in layer.modules():
                if hasattr(module, "layer_idx"):
                    module.layer_idx = index

    def _layers(self) -> Iterator[tuple[str, Stack, nn.Module]]:
        for stack in self.stacks:
            for index, layer in enumerate(self.core.get_submodule(stack.layers)):
                yield f"{stack.name}.{index}", stack, layer

    def attention_block(
        self, name: str, stack: Stack, layer: nn.Module, path: str
    ) -> AttentionBlock:
        """Make the block of the attention module at a path in a layer."""
        attention = layer.get_submodule(path)
        masked = stack.name if stack.masked is None else stack.masked
        size = getattr(attention, self.head_size)
        projections = [whole(one) for one in self.projections(layer, attention)]
        if self.grouped:
            heads, group = projections[1].outputs // size, attention.num_key_value_groups
        else:
            heads, group = getattr(attention, self.heads), 1

        def set_shape(heads: int) -> None:
            if not self.grouped:
                setattr(attention, self.heads, heads)
            if self.width is not None:
                setattr(attention, self.width, heads * size)
            if not heads and self.headless is not None:
                become(attention, self.headless)

        return AttentionBlock(
            name,
            *projections,
            heads=heads,
            head_size=size,
            group=group,
            set_shape=set_shape,
            set_recorder=partial(self._set_recorder, attention, self.core.get_submodule(masked)),
        )

    def _set_recorder(
        self, attention: nn.Module, masked: nn.Module, recorder: Recorder | None
    ) -> None:
        heard = bool(self._hooks)
        for hook in self._hooks.pop(attention, ()):
            hook.remove()
        if recorder is not None:
            self._hooks[attention] = _report(attention, masked, recorder, self.weights_at)
        if self._hooks and not heard:
            self._implementation = self.core.config._attn_implementation
            self.core.set_attn_implementation("eager")
        elif heard and not self._hooks:
            self.core.set_attn_implementation(self._implementation)


def _report(attention: nn.Module, masked: nn.Module, recorder: Recorder, weights_at: int) -> list:
    """Add hooks that pass each forward pass of an attention module to the recorder; return them."""
    mask: Tensor | None = None

    def see_mask(module, arguments, keywords):
        nonlocal mask
        bound = inspect.signature(module.forward).bind_partial(*arguments, **keywords)
        mask = bound.arguments.get("attention_mask")
        if mask is not None and mask.dim() != 2:
            raise ValueError(f"attention mask {tuple(mask.shape)}: give one of (batch, positions)")

    def see_weights(module, arguments, output):
        weights = output[weights_at]  # (batch, h, queries, keys); None without heads
        if weights is not None:
            # If a text is continued, the queries are its last positions.
            recorder(weights, None if mask is None else mask[:, -weights.shape[2] :].bool())

    return [
        masked.register_forward_pre_hook(see_mask, with_kwargs=True),
        attention.register_forward_hook(see_weights),
    ]


def become(module: nn.Module, replacement: type) -> None:
    """Replace a module's class in place: by a subclass of it, or by one whose methods precede its own."""
    kind = type(module)
    if not issubclass(kind, replacement):
        module.__class__ = (
            replacement if issubclass(replacement, kind) else _both(replacement, kind)
        )


@cache
def _both(replacement: type, kind: type[nn.Module]) -> type[nn.Module]:
    return type(f"{replacement.__name__}Of{kind.__name__}", (replacement, kind), {})


def count_positions(cache: Cache | None, layer: int, x: Tensor) -> None:
    """Add positions of x (b, positions, d) to the cache for an attention without heads; the library counts keys."""
    if isinstance(cache, EncoderDecoderCache):
        cache = cache.self_attention_cache
    if cache is not None:
        nothing = x.new_zeros(x.shape[0], 1, x.shape[1], 1)
        cache.update(nothing, nothing, layer)
