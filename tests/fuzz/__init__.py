"""Fuzzing of all readers of external files: `make fuzz`."""
