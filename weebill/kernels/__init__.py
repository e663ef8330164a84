"""Compiled kernels of the students' runtime and of int8 layers, and PyTorch's if those cannot be compiled."""
