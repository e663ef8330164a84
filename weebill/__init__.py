"""Weebill: makes translation models small and fast, and shows what each step costs and gains."""

__version__ = "0.1.0"
