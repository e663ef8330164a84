"""Fuzzing of every reader of files from outside: `make fuzz`."""
