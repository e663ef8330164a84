"""Makers of stand-in models: small ones of the same class as models of the hub, with random weights."""
