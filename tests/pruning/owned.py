"""Parameters that belong to one head or neuron, as views of the model's."""


def of_head(block, head: int) -> dict:
    """Return query.weight, key.weight, value.weight (k, inputs), their biases (k,), and out.weight (d, k).

    For a group of g query heads, query and out have g·k in place of k.
    """
    size = {"query": block.group * block.head_size}
    rows = slice(head * size["query"], (head + 1) * size["query"])
    found = {"out.weight": block.out.weight[:, rows]}
    for name in ("query", "key", "value"):
        projection, each = getattr(block, name), size.get(name, block.head_size)
        rows = slice(head * each, (head + 1) * each)
        found[f"{name}.weight"] = projection.weight[rows]
        if projection.bias is not None:
            found[f"{name}.bias"] = projection.bias[rows]
    return found


def of_neuron(block, neuron: int) -> dict:
    """Return inner.weight (d,), inner.bias (), outer.weight (d,), and those of the gate if there is one."""
    found = {"outer.weight": block.outer.weight[:, neuron]}
    for name, projection in zip(("inner", "gate"), block.inward, strict=False):
        found[f"{name}.weight"] = projection.weight[neuron]
        if projection.bias is not None:
            found[f"{name}.bias"] = projection.bias[neuron]
    return found
