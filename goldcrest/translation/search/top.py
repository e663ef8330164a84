"""The largest few of many values in a row, ties to the first."""

import torch
from torch import Tensor

CHUNK = 64


def largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row of values (rows, n) and their indices, equal ones in order of index.

    Same as a stable descending sort cut at k, without sorting: the k + 1 largest lie in the k + 1
    chunks with the largest maxima, so one pass finds the chunks and a second looks at these alone.
    (torch.topk over the whole row is several times slower on a CPU, and leaves ties in any order.)
    """
    rows, n = values.shape
    if n <= CHUNK * (k + 1):
        return _sorted(values, k)
    whole = n // CHUNK * CHUNK
    chunks = values[:, :whole].unflatten(1, (-1, CHUNK))  # (rows, chunks, CHUNK)
    best = chunks.amax(2).topk(k + 1, dim=1).indices  # (rows, k + 1)
    inside = chunks.gather(1, best[:, :, None].expand(-1, -1, CHUNK)).flatten(1)
    offsets = torch.arange(CHUNK, device=values.device)
    indices = (best[:, :, None] * CHUNK + offsets).flatten(1)
    if whole < n:
        inside = torch.cat([inside, values[:, whole:]], 1)
        rest = torch.arange(whole, n, device=values.device).expand(rows, -1)
        indices = torch.cat([indices, rest], 1)
    top, where = inside.topk(k + 1, dim=1)
    indices = indices.gather(1, where)
    # All above the (k + 1)-th value are certainly here; which of its equals are, is left open.
    tied = top[:, k - 1] == top[:, k]
    top, indices = _in_order(top[:, :k], indices[:, :k])
    if bool(tied.any()):
        top[tied], indices[tied] = _sorted(values[tied], k)
    return top, indices


def _sorted(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    top, indices = values.sort(dim=1, descending=True, stable=True)
    return top[:, :k], indices[:, :k]


def _in_order(top: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    indices, order = indices.sort(1)
    top, again = top.gather(1, order).sort(dim=1, descending=True, stable=True)
    return top, indices.gather(1, again)
