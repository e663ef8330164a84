"""Triton's kernels in its interpreter, which runs them on the CPU if there is no GPU."""

import importlib

import pytest
import torch


@pytest.fixture
def interpreted(monkeypatch):
    """Return a function that imports a module of kernels by name, for the interpreter."""
    pytest.importorskip("triton", reason="Triton is not installed; it comes with PyTorch for CUDA")
    if torch.cuda.is_available():
        pytest.skip("there is a card, on which the kernels run")
    from triton.runtime import interpreter

    patch = interpreter._patch_lang_tensor

    def patch_for_numpy(tensor, scope):
        """Convert a number with `item`: NumPy 2.4 refuses to convert an array (1,), as Triton 3.6 does."""
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch_for_numpy)
    return importlib.import_module
