"""The order of the tests."""

from pathlib import Path

WORKFLOW = Path(__file__).with_name("workflow")


def pytest_collection_modifyitems(items):
    """The workflow's first: they take the longest, and the other workers need something to do beside them."""
    items.sort(key=lambda item: WORKFLOW not in item.path.parents)
