"""Bounds and common types of settings, for annotations of settings classes.

A setting is a field of a frozen dataclass. Its annotation is its type and bounds, its default the default; None means
that the key may be left out. The text below it gives unit, meaning and source. `configuration.settings_schema` reads
all of them. The bounds are our own classes, because some of these dataclasses are used in the environments `comet`
and `bicleaner`, which have neither pydantic nor annotated_types.
"""

import ast
import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

# A section of a configuration: `@section class Cleaning: ...`.
section = dataclass(frozen=True, kw_only=True)


# Bounds of a number, inclusive (Ge, Le) or exclusive (Gt, Lt).
Ge = make_dataclass("Ge", [("ge", float)], frozen=True)
Gt = make_dataclass("Gt", [("gt", float)], frozen=True)
Le = make_dataclass("Le", [("le", float)], frozen=True)
Lt = make_dataclass("Lt", [("lt", float)], frozen=True)
# Smallest number of letters, items or keys; largest number of items.
MinLen = make_dataclass("MinLen", [("min_length", int)], frozen=True)
MaxLen = make_dataclass("MaxLen", [("max_length", int)], frozen=True)
# Marks: a list without repeated items; a text that names a file, a folder or an address; a field that the workflow
# sets, for which a configuration has no key.
Unique = make_dataclass("Unique", [], frozen=True)
Located = make_dataclass("Located", [], frozen=True)
Computed = make_dataclass("Computed", [], frozen=True)
# Regular expression that a text must match, and the name of a valid value in messages.
Pattern = make_dataclass("Pattern", [("pattern", str), ("expected", str)], frozen=True)
Expected = make_dataclass("Expected", [("expected", str)], frozen=True)
# Bound of a default (but not of a user's value): at most `share` times the value of another key.
Follows = make_dataclass("Follows", [("follows", str), ("share", float)], frozen=True)


@dataclass(frozen=True, eq=False)  # annotations are hashed, and mappings have no hash
class Former:
    """Alternatives of earlier versions, each with its replacement, which is named in messages.

    A section lists its own earlier keys in its class variable FORMER.
    """

    former: Mapping[str, str]


@dataclass(frozen=True, eq=False)  # annotations are hashed, and mappings have no hash
class Chosen:
    """Alternatives of a section: the key `tag` names one of `options`, which defines the other keys.

    options: settings classes by name, such as a registry.
    without: keys that this section leaves out.  defaults: default values that differ in this section.
    """

    tag: str
    options: Mapping[str, type]
    without: Collection[str] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)


Count = Annotated[int, Ge(1)]
Few = Annotated[int, Ge(1), Le(4096)]  # threads, devices, hypotheses of a beam
Shards = Annotated[int, Ge(1), Le(100_000)]  # each is a job
Members = Annotated[int, Ge(1), Le(100)]  # members of an ensemble; each is trained
Amount = Annotated[int, Ge(0)]
Seed = Annotated[int, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
PartialShare = Annotated[float, Ge(0), Lt(1)]
ProperShare = Annotated[float, Gt(0), Lt(1)]
NonZeroShare = Annotated[float, Gt(0), Le(1)]
Weight = Annotated[float, Ge(0)]
Positive = Annotated[float, Gt(0)]
Text = Annotated[str, MinLen(1)]
Place = Annotated[  # Snakemake takes braces for wildcards; ~ and $NAME are never replaced
    str,
    MinLen(1),
    Located(),
    Pattern(
        r"^(?![~$])[^{}\n]*$", "a path or address, without braces, line ends, or ~ or $ in front"
    ),
]
T = TypeVar("T")
Several = Annotated[tuple[T, ...], MinLen(1)]
Distinct = Annotated[tuple[T, ...], MinLen(1), Unique()]
Places = Distinct[Place]
Names = Distinct[str]


def _name(kind: str, most: int) -> Any:
    """Return the type of a name that is a part of file names, which have at most 255 bytes."""
    pattern = rf"^[A-Za-z0-9][A-Za-z0-9._-]{{0,{most - 1}}}$"
    return Annotated[str, Pattern(pattern, f"a {kind} of at most {most} letters, digits and . _ -")]


Name = _name("name", 64)  # a file may have three of them in its name
TextName = _name("name", 200)
Named = Annotated[dict[Name, T], MinLen(1)]
FolderName = _name("folder name", 100)
LANGUAGE = Pattern(
    "^[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*$", "a language code such as en, sr-Latn or pt-BR"
)
Language = Annotated[str, LANGUAGE]
Sha256 = Annotated[str, Pattern("^[0-9a-f]{64}$", "64 hexadecimal digits in small letters")]
Commit = Annotated[str, Pattern("^[0-9a-f]{40}$", "a commit of 40 hexadecimal digits")]

# `rehearsal`, which `weebill rehearse` chooses, runs a GPU's code and kinds of numbers on the processor.
Accelerator = Literal["cpu", "gpu", "rehearsal"]


def made_section(
    name: str, doc: str, keys: Iterable[tuple[str, Any, Any, str]] = (), bases: tuple = ()
) -> type:
    """Make a section of keys: name, type, default and sentence of each ("" if another section has it)."""
    entries = [
        (key, hint, field(default=default, metadata={"sentence": text} if text else {}))
        for key, hint, default, text in keys
    ]
    namespace = {"__doc__": doc, "__module__": __name__}
    options = {"bases": bases, "namespace": namespace, "frozen": True, "kw_only": True}
    return make_dataclass(name, entries, **options)


def defaults(cls: type) -> dict[str, Any]:
    """Return the default of every field of a settings class; None for a field without default."""
    return {one.name: None if one.default is MISSING else one.default for one in fields(cls)}


def sentences(cls: type) -> dict[str, str]:
    """Return the text below each field of a settings class and of its base classes, on one line.

    Sections made by `made_section` have the texts in the metadata of their fields.
    """
    found = {one.name: one.metadata["sentence"] for one in fields(cls) if one.metadata}
    for base in reversed(cls.__mro__[:-1]):
        found |= _sentences_in(inspect.getsourcefile(base)).get(base.__qualname__, {})
    return found


@cache
def _sentences_in(file: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(Path(file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            texts = found[node.name] = {}
            for pair in pairwise(node.body):
                match pair:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(text)):
                        texts[name] = " ".join(text.split())
    return found
