"""`make test-gpu`: tests, shortened experiments and a benchmark on one GPU, with one table and one JSON."""
