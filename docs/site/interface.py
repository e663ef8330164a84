"""Reference of the Python interface: directives by which Sphinx takes signatures and docstrings from the code."""

import inspect
from importlib import import_module

PACKAGES = ("weebill", "weebill_runtime")


def page() -> str:
    """Return a section for each package, with every name of its interface; names of both are told once."""
    told: dict[int, str] = {}  # full name of each object
    return "\n".join(f"## {name}\n\n{_package(name, told)}" for name in PACKAGES)


def _package(name: str, told: dict[int, str]) -> str:
    package = import_module(name)
    directives = [f".. automodule:: {name}\n   :no-members:\n"]
    for one in package.__all__:
        value = getattr(package, one)
        if told.setdefault(id(value), f"{name}.{one}") != f"{name}.{one}":
            directives.append(f"`{name}.{one}` is `{told[id(value)]}`.\n")
            continue
        kind = "class" if inspect.isclass(value) else "function"
        if inspect.isclass(value) and issubclass(value, Exception):
            kind = "exception"
        members = "   :members:\n   :inherited-members:\n" if kind == "class" else ""
        directives.append(f".. auto{kind}:: {name}.{one}\n{members}")
    return "```{eval-rst}\n" + "\n".join(directives) + "```\n"
