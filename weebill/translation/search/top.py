"""Selection of the largest few of many values in a row; among equals the first."""

import torch
from torch import Tensor

CHUNK = 64


def largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest of each row of values (rows, n) and their indices, equal ones in order of index.

    This equals a stable descending sort cut at k, without sorting: the k + 1 largest lie in the k + 1
    chunks with the largest maxima, so one pass finds the chunks and a second reads only these.
    (torch.topk over the whole row is several times slower on a CPU, and its order of ties is undefined.)
    """
    if values.shape[1] <= CHUNK * (k + 1):
        top, indices = values.sort(dim=1, descending=True, stable=True)
        return top[:, :k], indices[:, :k]
    top, indices = _any_largest(values, k + 1)
    # All values above the (k + 1)-th are here; the choice among values equal to it is undefined.
    tied = top[:, k - 1] == top[:, k]
    top, indices = _in_order(top[:, :k], indices[:, :k])
    if bool(tied.any()):  # frequent among logits rounded to bfloat16
        indices[tied] = _first_of_equals(values[tied], top[tied], indices[tied])
    return top, indices


def _any_largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest of each row and their indices; the choice and order of equal ones are undefined."""
    rows, n = values.shape
    whole = n // CHUNK * CHUNK
    chunks = values[:, :whole].unflatten(1, (-1, CHUNK))  # (rows, chunks, CHUNK)
    best = chunks.amax(2).topk(k, dim=1).indices  # (rows, k)
    inside = chunks.gather(1, best[:, :, None].expand(-1, -1, CHUNK)).flatten(1)
    offsets = torch.arange(CHUNK, device=values.device)
    indices = (best[:, :, None] * CHUNK + offsets).flatten(1)
    if whole < n:
        inside = torch.cat([inside, values[:, whole:]], 1)
        rest = torch.arange(whole, n, device=values.device).expand(rows, -1)
        indices = torch.cat([indices, rest], 1)
    top, where = inside.topk(k, dim=1)
    return top, indices.gather(1, where)


def _first_of_equals(values: Tensor, top: Tensor, indices: Tensor) -> Tensor:
    """Return the indices of `top` (rows, k) in values (rows, n); for its least value the first of its equals."""
    least = top[:, -1:]
    backwards = -torch.arange(values.shape[1], dtype=torch.float32, device=values.device)
    _, equals = _any_largest(torch.where(values == least, backwards, -torch.inf), top.shape[1])
    place = (top == least).cumsum(1) - 1
    return torch.where(top == least, equals.gather(1, place.clamp(min=0)), indices)


def _in_order(top: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    indices, order = indices.sort(1)
    top, again = top.gather(1, order).sort(dim=1, descending=True, stable=True)
    return top, indices.gather(1, again)
