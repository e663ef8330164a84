"""Entries of a registry are loaded on use, separately."""

import pytest

from weebill.registry import Registry

TABLE = {"first": "weebill.registry:Registry", "second": "no.such_module:Class"}


def test_one_entry_is_loaded_without_the_others():
    registry = Registry(TABLE)
    assert registry["first"] is Registry
    assert list(registry) == ["first", "second"] and len(registry) == 2
    assert "second" in registry and "third" not in registry
    assert registry.module("second") == "no.such_module"
    with pytest.raises(KeyError):
        registry["third"]
    with pytest.raises(ModuleNotFoundError):
        registry["second"]
