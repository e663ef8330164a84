"""The largest of many values, such as the logits of all pieces, without a look at most of them."""

import torch
from torch import Tensor

CHUNK = 64  # values in a chunk; the maxima of chunks are compared first


def largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest of each row of values (rows, n) and their indices, equal ones in order of index.

    This equals a stable descending sort cut at k, without sorting: the k + 1 largest values are in the k + 1
    chunks with the largest maxima, so one pass finds the chunks and a second reads only these.
    (torch.topk over the whole row is several times slower on a CPU, and its order of ties is undefined.)
    """
    if values.shape[1] <= CHUNK * (k + 1):
        top, indices = values.sort(dim=1, descending=True, stable=True)
        return top[:, :k], indices[:, :k]
    top, indices = _any_largest(values, k + 1)
    # All values above the (k + 1)-th are here; the choice among values equal to it is undefined.
    tied = top[:, k - 1] == top[:, k]
    indices, order = indices[:, :k].sort(1)
    top, order = top.gather(1, order).sort(dim=1, descending=True, stable=True)
    indices = indices.gather(1, order)
    if bool(tied.any()):  # frequent among logits rounded to bfloat16
        indices[tied] = _first_of_equals(values[tied], top[tied], indices[tied])
    return top, indices


def largest_at_once(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the same as `largest` for float32 and any k up to n, without waiting for the device.

    Values are compared as integers whose lower half holds the index, so no two are equal.  The k largest are in the k
    chunks with the largest maxima; of equal maxima, the first ones count.
    """
    count, n = values.shape
    if n <= CHUNK * (k + 1):
        indices = torch.arange(n, device=values.device).expand(count, -1)
        return _first_largest(values, indices, k)
    whole = n // CHUNK * CHUNK
    chunks = values[:, :whole].unflatten(1, (-1, CHUNK))  # (rows, chunks, CHUNK)
    numbers = torch.arange(whole, device=values.device).view(-1, CHUNK)  # (chunks, CHUNK)
    _, best = _first_largest(chunks.amax(2), numbers[:, 0].expand(count, -1), k)
    indices = (best[:, :, None] + numbers[0]).flatten(1)
    if whole < n:
        rest = torch.arange(whole, n, device=values.device)
        indices = torch.cat([indices, rest.expand(count, -1)], 1)
    return _first_largest(values.gather(1, indices), indices, k)


def _first_largest(values: Tensor, indices: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest of values (rows, m) and their indices (rows, m); equal values in order of index."""
    bits = (values + 0.0).view(torch.int32)  # the sum has no negative zero
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # integers in the order of the values
    keys = ordered.long() * 2**32 - indices
    keys = keys.topk(k, dim=1).values
    found = -keys & 0xFFFFFFFF
    order = (keys + found) >> 32  # ordered
    bits = order ^ ((order >> 31) & 0x7FFFFFFF)
    return bits.int().view(torch.float32), found


def _any_largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest of each row and their indices; the choice and order of equal ones are undefined."""
    rows, n = values.shape
    whole = n // CHUNK * CHUNK
    chunks = values[:, :whole].unflatten(1, (-1, CHUNK))  # (rows, chunks, CHUNK)
    best = chunks.amax(2).topk(k, dim=1).indices  # (rows, k)
    inside = chunks.gather(1, best[:, :, None].expand(-1, -1, CHUNK)).flatten(1)
    indices = (best[:, :, None] * CHUNK + torch.arange(CHUNK, device=values.device)).flatten(1)
    if whole < n:
        inside = torch.cat([inside, values[:, whole:]], 1)
        rest = torch.arange(whole, n, device=values.device).expand(rows, -1)
        indices = torch.cat([indices, rest], 1)
    top, where = inside.topk(k, dim=1)
    return top, indices.gather(1, where)


def _first_of_equals(values: Tensor, top: Tensor, indices: Tensor) -> Tensor:
    """Return the indices of `top` (rows, k) in values (rows, n); those of its least value are the first ones."""
    least = top[:, -1:]
    backwards = -torch.arange(values.shape[1], dtype=torch.float32, device=values.device)
    _, equals = _any_largest(torch.where(values == least, backwards, -torch.inf), top.shape[1])
    place = (top == least).cumsum(1) - 1
    return torch.where(top == least, equals.gather(1, place.clamp(min=0)), indices)
