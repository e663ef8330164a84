"""Compiled kernels: the students' runtime, and int8 layers of any other model; with PyTorch in their place."""
