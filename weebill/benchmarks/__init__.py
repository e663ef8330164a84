"""One module a benchmark, found by its name.

Each has `run(rounds) -> list[Row]`; one with options of its own has `add_arguments(parser)`, and they are
further arguments of its `run`.
"""
