"""Write tables for the program in C++: Unicode's data, and those of weebill_runtime's Python.

python tables.py FOLDER OUT

The Unicode data are those of the Python that runs this, so that the program normalises text as it does.
"""

import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType

LAST = 0x110000
SURROGATES = range(0xD800, 0xE000)
KINDS = {  # patterns of normalisation.py, which normalisation.cpp writes out
    None: "TEXT",
    r"  +": "SPACES",
    r"\) ([.!:?;,])": "BRACKET_MARK",
    r" %(?<=\d %)": "PERCENT",
    r'"([,.]+)': "QUOTE_MARKS",
    r'(\.+)(?:"([^\S\n]*[^<\n]))?': "DOTS_QUOTE",
}
LANGUAGES = {"en": "EN", "de": "CONTINENTAL", "cs": "COMMA", "": "OTHER"}
LINES = ("ASCII", "UNICODE", "SPACED")  # with no-break spaces


def ranges(holds: Callable[[str], object]) -> list[tuple[int, int]]:
    """Return first and last of each run of characters for which a condition holds; surrogates are none."""
    found: list[tuple[int, int]] = []
    for code in range(LAST):
        if code in SURROGATES or not holds(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def decompositions(form: str, holds: Callable[[str], object]) -> list[tuple[int, str]]:
    """Return the characters that a form decomposes, but Hangul's syllables, which an algorithm does."""
    return [
        (code, text)
        for code in range(LAST)
        if code not in SURROGATES
        and not 0xAC00 <= code < 0xD7A4
        and holds(chr(code))
        and (text := unicodedata.normalize(form, chr(code))) != chr(code)
    ]


def compositions() -> list[tuple[int, int, int]]:
    """Return the pairs of characters that form NFC makes one of, but Hangul's."""
    found = []
    for code in range(LAST):
        if code in SURROGATES or 0xAC00 <= code < 0xD7A4:
            continue
        parts = unicodedata.decomposition(chr(code)).split()
        pair = len(parts) == 2 and parts[0][0] != "<"  # a canonical one
        if pair and unicodedata.normalize("NFC", chr(code)) == chr(code):
            found.append((int(parts[0], 16), int(parts[1], 16), code))
    return sorted(found)


def literal(text: str) -> str:
    """Return a C++ literal of UTF-32."""
    return " ".join(f'U"\\x{ord(one):x}"' for one in text) or 'U""'


def table(kind: str, name: str, rows: Iterable[str]) -> str:
    """Return the definition of an array."""
    return f"constexpr {kind} {name}[] = {{\n" + "".join(f"    {row},\n" for row in rows) + "};\n"


def steps(name: str, rows: Iterable[tuple]) -> str:
    """Return the definition of the substitutions of normalisation.py for one kind of lines."""
    lines = []
    for needed, substitute, new in rows:
        kind = KINDS[substitute and substitute.__self__.pattern]
        lines.append(
            f"{{{kind}, {literal(needed)}, {literal(new if isinstance(new, str) else '')}}}"
        )
    return table("Step", name, lines)


def characters(normalisation: ModuleType) -> Iterator[str]:
    """Yield the tables of unicode.cpp."""
    classes: dict[str, Callable[[str], object]] = {
        "SPACE": str.isspace,
        "DECIMAL": str.isdecimal,
        "SYMBOL": lambda one: unicodedata.category(one) == "So",
        "FORMAT": normalisation._formats().match,
        "INVISIBLE": normalisation._one_of("Cc", "Co", "Cs", "Zl", "Zp").match,
        "COMPATIBLE": normalisation._COMPATIBLE_RUN.match,
        "JOINED": normalisation._JOINED.match,
        "UNSPACED": normalisation._UNSPACED.match,
        "VISIBLE": normalisation._VISIBLE.match,
        "EMOJI": normalisation._emoji().match,
    }
    for name, holds in classes.items():
        yield table("Range", name, (f"{{{one:#x}, {other:#x}}}" for one, other in ranges(holds)))
    for name, form, holds in (
        ("CANONICAL", "NFD", lambda _: True),
        ("COMPATIBILITY", "NFKD", normalisation._COMPATIBLE_RUN.match),
    ):
        rows = decompositions(form, holds)
        yield table(
            "Decomposition", name, (f"{{{code:#x}, {literal(text)}}}" for code, text in rows)
        )
    rows = (f"{{{one:#x}, {other:#x}, {code:#x}}}" for one, other, code in compositions())
    yield table("Composition", "COMPOSITIONS", rows)
    numbers = {code: unicodedata.combining(chr(code)) for code in range(LAST)}
    rows = (f"{{{code:#x}, {number}}}" for code, number in numbers.items() if number)
    yield table("CombiningClass", "COMBINING", rows)


def substitutions(normalisation: ModuleType, languages: ModuleType) -> Iterator[str]:
    """Yield the tables of normalisation.cpp."""
    for language, name in LANGUAGES.items():
        for kind, rows in zip(LINES, normalisation._steps(language), strict=True):
            yield steps(f"{kind}_{name}", rows)
    rows = (f'{{"{old}", "{new}"}}' for old, new in sorted(languages._NEWER.items()))
    yield table("Replacement", "LANGUAGES", rows)


def main(folder: str, out: str) -> None:
    """Write the tables of the weebill_runtime in a folder as headers in a folder `out`."""
    sys.path.insert(0, folder)
    from weebill_runtime import __version__, languages, normalisation
    from weebill_runtime.engines import NEEDS
    from weebill_runtime.folder import READABLE

    needs = (f'{{"{isa}", "{" ".join(needed)}"}}' for isa, needed in NEEDS.items())
    for name, parts in {
        "characters.h": characters(normalisation),
        "substitutions.h": substitutions(normalisation, languages),
        "names.h": [
            "#pragma once\n\nstruct Set {\n  const char *name, *needs;  // features of the processor\n};\n",
            f'constexpr char VERSION[] = "{__version__}";\n',
            table("Set", "SETS", needs),
            table("const char*", "FORMATS", (f'"{one}"' for one in READABLE)),
        ],
    }.items():
        Path(out, name).write_text("\n".join(["// Written by tables.py.", *parts]), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
