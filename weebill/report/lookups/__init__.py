"""Lookups in the results of an experiment, one module for each kind of experiment."""
