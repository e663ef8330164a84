"""Damage to files: bytes, lines, and values of JSON and YAML are changed, removed, doubled or replaced."""

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

import yaml

NUMBERS = (0, 1, 0x7F, 0x80, 0xFF)
SIZES = (0, 1, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
LINES = (
    b"",
    b"\t",
    b"\0",
    b"\xff\xfe",
    b"||| |||",
    b"9" * 400,
    b"\r",
    "\u2028\u202e".encode(),
    b"nan",
)
VALUES = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2**31,
        2**63,
        10**30,
        0.5,
        -0.0,
        1e308,
        float("nan"),
        float("inf"),
    ),
    *(
        "",
        " ",
        "a\n",
        "..",
        "/",
        "~",
        "\0",
        "x" * 300,
        "\u202e",
        "a b",
        "{x}",
        "1e5",
        "null",
        "http://[::1",
    ),
    *([], {}, [[]], [None], {"": None}, {"a": {"b": []}}),
)


def damaged(content: bytes, name: str, random: Random) -> bytes:
    """Return a file's content with one to four mutations of kinds that fit its name."""
    load = {".json": json.loads, ".yaml": yaml.safe_load, ".yml": yaml.safe_load}
    suffix = name[name.rfind(".") :]
    if suffix in load and random.random() < 0.7:
        changed = _other_values(load[suffix](content.decode()), random)
        if suffix == ".json":
            return json.dumps(changed).encode()
        return yaml.safe_dump(changed, sort_keys=False, allow_unicode=True).encode()
    kinds: list[Callable] = [_flip, _overwrite, _cut, _lose, _double, _insert]
    if suffix in (".txt", ".tsv", ".yaml", ".yml", ".csv"):
        kinds += [_line] * 6
    if suffix == ".safetensors" and random.random() < 0.5:
        kinds = [_header]
    for _ in range(random.randint(1, 4)):
        content = random.choice(kinds)(content, random)
    return content


def _other_values(value: Any, random: Random) -> Any:
    """Return a JSON value with one to three of its parts replaced, removed, doubled or moved to another key."""
    changed = copy.deepcopy(value)
    for _ in range(random.randint(1, 3)):
        places = list(_places(changed))
        if not places:
            return random.choice(VALUES)
        holder, key = random.choice(places)
        match random.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            case 1:
                holder[f"{key}x"] = holder.pop(key)
            case 2:
                other, place = random.choice(places)
                holder[key] = copy.deepcopy(other[place])
            case 3 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
                holder[key] = holder[key] * random.choice((-1, 2, 0.5, 1000)) + random.choice(
                    (0, 1, -1)
                )
            case _:
                holder[key] = copy.deepcopy(random.choice(VALUES))
    return changed


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return (container, key) of every part of a value."""
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    found = []
    for key, part in list(pairs):
        found += [(value, key), *_places(part)]
    return found


def _header(content: bytes, random: Random) -> bytes:
    """Change values in the JSON header of a safetensors file."""
    size = int.from_bytes(content[:8], "little")
    if not 0 < size <= len(content) - 8:
        return _flip(content, random)
    try:
        header = json.loads(content[8 : 8 + size])
    except ValueError:
        return _flip(content, random)
    changed = json.dumps(_other_values(header, random)).encode()
    return len(changed).to_bytes(8, "little") + changed + content[8 + size :]


def _span(content: bytes, random: Random) -> tuple[int, int]:
    begin = random.randrange(len(content) + 1)
    return begin, min(len(content), begin + random.choice((1, 2, 4, 8, 64, 1024)))


def _flip(content: bytes, random: Random) -> bytes:
    if not content:
        return b"\0"
    changed = bytearray(content)
    changed[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _overwrite(content: bytes, random: Random) -> bytes:
    begin = random.randrange(len(content) + 1)
    width = random.choice((1, 2, 4, 8))
    number = random.choice(NUMBERS if width == 1 else SIZES) % 2 ** (8 * width)
    return content[:begin] + number.to_bytes(width, "little") + content[begin + width :]


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _lose(content: bytes, random: Random) -> bytes:
    begin, end = _span(content, random)
    return content[:begin] + content[end:]


def _double(content: bytes, random: Random) -> bytes:
    begin, end = _span(content, random)
    return content[:end] + content[begin:]


def _insert(content: bytes, random: Random) -> bytes:
    begin = random.randrange(len(content) + 1)
    return content[:begin] + random.randbytes(random.choice((1, 3, 16))) + content[begin:]


def _line(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    place = random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            lines[place] = random.choice(LINES)
        case 1:
            lines.insert(place, random.choice(LINES))
        case 2:
            del lines[place]
        case _:
            lines[place] = lines[place].replace(
                random.choice((b"\t", b" ", b":")), random.choice(LINES), 1
            )
    return b"\n".join(lines)
