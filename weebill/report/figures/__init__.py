"""Figures of everything measured."""
