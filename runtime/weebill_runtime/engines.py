"""Choice of an engine by the instruction sets of the processor; each is a compiled module with the same names.

On x86, `vnni`: AVX-512 with byte products.  `amx`: the same with products by the matrix unit.  `avxvnni`: byte
products in registers half as wide, found in desktops.  `avx2`: any other processor of the last ten years.  On Arm,
`neon`: any processor of 64 bits.  `dotprod`: with byte products (ARMv8.2).  `i8mm`: with products of small matrices
of bytes, and of bfloat16 numbers (ARMv8.6).  `portable`: any other processor.
"""

import ctypes
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

AVX512 = ("avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vnni", "avx2", "fma")
NEEDS = {  # features of the processor, as Linux names them; the fastest first
    "amx": (*AVX512, "amx_tile", "amx_int8", "amx_bf16"),
    "vnni": AVX512,
    "avxvnni": ("avx_vnni", "avx2", "fma"),
    "avx2": ("avx2", "fma"),
    "i8mm": ("asimddp", "i8mm", "bf16"),
    "dotprod": ("asimddp",),
    "neon": ("asimd",),
    "portable": (),
}
BFLOAT16 = {  # the feature by which an engine multiplies such numbers
    "amx": "avx512_bf16",
    "vnni": "avx512_bf16",
    "i8mm": "bf16",
}


def available() -> list[str]:
    """Return this process's instruction sets, the fastest first; ask Linux for permission to use a matrix unit."""
    found = set(_features())
    sets = [isa for isa, needed in NEEDS.items() if found.issuperset(needed) and _compiled(isa)]
    return [isa for isa in sets if isa != "amx" or _may_use_matrix_unit()]


def has_bfloat16(isa: str) -> bool:
    """Return True if the engine of an instruction set multiplies bfloat16 numbers on this processor."""
    return BFLOAT16.get(isa) in _features()


@cache
def engine(isa: str) -> ModuleType:
    """Return the compiled module of an instruction set.

    It does not check that the machine has the set: for `amx` without a matrix unit it is the same code on tiles in
    plain memory, for tests only.  `Bfloat16Student` is for processors with `has_bfloat16`.

    Raises:
        ValueError: if there is no such instruction set.
    """
    if isa not in NEEDS:
        raise ValueError(f"no instruction set '{isa}'; there are {', '.join(NEEDS)}")
    module = f"weebill_runtime._{isa}"
    if isa == "amx" and isa not in available():
        module += "_in_memory"
    return import_module(module)


@cache
def _compiled(isa: str) -> bool:
    """Return True if the installed engine has an instruction set: `make setup` compiles those of its machine."""
    return find_spec(f"weebill_runtime._{isa}") is not None


@cache
def _features() -> list[str]:
    from weebill_runtime import _processor  # compiled, unlike this module

    return _processor.features()


@cache
def _may_use_matrix_unit() -> bool:
    """Ask Linux for the matrix unit (AMX); once granted, the process and its forks keep it."""
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18
    ask = ctypes.CDLL(None).syscall
    ask.argtypes, ask.restype = [ctypes.c_long] * 3, ctypes.c_long
    return ask(arch_prctl, request_permission, tile_data) == 0
