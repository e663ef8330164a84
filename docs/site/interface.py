"""Reference of the Python interface: directives by which Sphinx takes signatures and docstrings from the code."""

from importlib import import_module

PACKAGES = ("weebill", "weebill_runtime")


def page() -> str:
    """Return a section for each package, with every name of its interface; names of both stand in the first."""
    told: dict[str, str] = {}  # package of each name
    return "\n".join(f"## {name}\n\n{_package(name, told)}" for name in PACKAGES)


def _package(name: str, told: dict[str, str]) -> str:
    directives = [f".. automodule:: {name}\n   :no-members:\n"]
    for one in import_module(name).__all__:
        if (place := told.setdefault(one, name)) != name:
            directives.append(f"`{name}.{one}` is `{place}.{one}`.\n")
        else:
            members = "   :members:\n   :inherited-members:\n" if _kind(one) == "class" else ""
            directives.append(f".. auto{_kind(one)}:: {name}.{one}\n{members}")
    return "```{eval-rst}\n" + "\n".join(directives) + "```\n"


def _kind(name: str) -> str:
    """Return what a name stands for by its form, without an import of its module, which may load PyTorch."""
    if not name[0].isupper():
        return "function"
    return "exception" if name.endswith("Error") else "class"
