"""The order of the tests."""

from pathlib import Path

WORKFLOW = Path(__file__).with_name("workflow")


def pytest_collection_modifyitems(items):
    """Start the workflow's tests first: they take the longest, and the other workers run the rest meanwhile."""
    items.sort(key=lambda item: WORKFLOW not in item.path.parents)
