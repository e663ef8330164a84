"""Lookups in the results of an experiment, in a module for each kind of experiment."""
