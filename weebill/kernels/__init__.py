"""Compiled kernels of the students' runtime and of int8 layers, and PyTorch's where they cannot be compiled."""
