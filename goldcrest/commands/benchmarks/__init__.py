"""One module a benchmark, found by its name; each has `run(rounds) -> list[Row]`."""
