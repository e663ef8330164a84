"""Compiled engine, of the distribution weebill-runtime, for an instruction set of the processor."""

import logging
from types import ModuleType
from typing import TYPE_CHECKING

import weebill_runtime
from weebill.errors import InputError, nearest
from weebill_runtime import engines
from weebill_runtime.engines import has_bfloat16

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

__all__ = ["has_bfloat16"]
PORTABLE = "portable"  # means PyTorch in this library; it is faster than the engine of that name
NEEDS = {isa: needed for isa, needed in engines.NEEDS.items() if isa != PORTABLE}


def available() -> list[str]:
    """Return this process's instruction sets, the fastest first."""
    return [isa for isa in engines.available() if isa in NEEDS]


def fastest() -> str:
    """Return the fastest instruction set that this processor has; `portable`, with a warning, if none."""
    if found := available():
        return found[0]
    logging.warning(
        "the compiled runtime is left out, PyTorch computes: this processor has none of its instruction sets"
    )
    return PORTABLE


def check_instruction_set(name: str) -> None:
    """Raise InputError unless a name is `portable` or an instruction set that this machine has."""
    if name not in (*NEEDS, PORTABLE):
        raise InputError(_no_such_set(name))
    found = [*available(), PORTABLE]
    if name not in found:
        has = f"it has {', '.join(found)}"
        raise InputError(f"instruction set '{name}': this machine lacks it; {has}")


def extension(isa: str) -> ModuleType:
    """Return the compiled module of an instruction set; it takes and returns arrays.  Raises InputError if unknown.

    It does not check that the machine has the set (`weebill_runtime.engine`).
    """
    if isa not in NEEDS:
        raise InputError(_no_such_set(isa))
    return weebill_runtime.engine(isa)


def array(tensor: "Tensor") -> "np.ndarray":
    """Return the numbers of a tensor as an array without gaps, in the tensor's memory if that has none."""
    return tensor.detach().contiguous().numpy()


def _no_such_set(name: str) -> str:
    known = [*NEEDS, PORTABLE]
    remedy = nearest(name, known) or f"; there are {', '.join(known)}"
    return f"no instruction set '{name}'{remedy}"
