"""Few corpora and test sets instead of many, each of some hundred stand-in lines."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weebill.corpus import tatoeba
from weebill.corpus.importers.entries import several
from weebill.experiment.corpora import USES, sides_of
from weebill.rehearsal.miniature.stand_ins import StandIns

ROWS, HELD_OUT = 100, 16  # pairs of a corpus, and of a test set or validation entry
LEAST_PARALLEL = 2  # corpora of parallel text, if there are enough
OVERRIDES = ("cleaning", "back_translation", "distillation", "noise")
BEST = 80  # rows that a score keeps, if it keeps a number of them

Entry = dict[str, Any]


def few_corpora(corpora: Mapping[str, Entry], named: Iterable[str]) -> list[str]:
    """Choose corpora: those that other keys name, one for each combination of use and own keys, and two parallel."""
    chosen = [name for name in named if name in corpora]
    kinds = {_kind(corpora[name]) for name in chosen}
    for name, entry in corpora.items():
        if _kind(entry) not in kinds:
            chosen.append(name)
            kinds.add(_kind(entry))
    parallel = [name for name, entry in corpora.items() if entry["use"] == "parallel"]
    missing = LEAST_PARALLEL - sum(name in parallel for name in chosen)
    chosen += [name for name in parallel if name not in chosen][: max(missing, 0)]
    return [name for name in corpora if name in chosen]


def _kind(entry: Entry) -> tuple[Any, ...]:
    return entry["use"], *(key in entry for key in OVERRIDES)


def small_corpus(name: str, entry: Entry, languages: tuple[str, str], stand_ins: StandIns) -> Entry:
    """Return the entry of a small corpus with the other keys of the original."""
    small = small_text(("corpora", name), entry, languages, stand_ins, ROWS)
    small |= {key: few_best(entry[key]) for key in OVERRIDES if key in entry}
    if "noise" in small:
        others = small["noise"]["other_languages"]
        small["noise"] = {
            **small["noise"],
            "other_languages": [
                path if path == tatoeba.NAME else _other_language(path, languages, stand_ins)
                for path in others
            ],
        }
    return {**small, "use": entry["use"]}


def small_text(
    place: tuple[str, ...],
    entry: Entry,
    languages: tuple[str, str],
    stand_ins: StandIns,
    rows: int,
) -> Entry:
    """Return the entry of a small text: embedded pairs if the original has them, else stand-in files.

    Files that the workflow makes from their origins stay so; the importer `files` reads all others.
    """
    if entry["importer"] == tatoeba.NAME:
        return {**entry, "pairs": min(entry["pairs"], rows)}
    sides = sides_of(USES[entry.get("use", "parallel")])
    columns = stand_ins.sides(languages, rows)
    made = {"importer": "files", "control_characters": entry.get("control_characters", "error")}
    return made | {
        side: stand_ins.file(_original(place, entry, side), columns[side]) for side in sides
    }


def _original(place: tuple[str, ...], entry: Entry, side: str) -> str:
    """Return the original path of an entry's file, with the lines that it took; without a path, the key's."""
    path = entry.get(side, "") if entry["importer"] == "files" else ""
    lines = entry.get("lines") or {}
    part = "".join(f".{lines[key]}" for key in ("first", "last") if key in lines)
    return f"{path}{part}" if path and "://" not in path else "/".join((*place, side))


def _other_language(path: str, languages: tuple[str, str], stand_ins: StandIns) -> str:
    other = next(one for one in ("fr", "nl", "cs") if one not in languages)
    return stand_ins.file(path, stand_ins.sentences(other, ROWS))


def few_tests(
    names: Iterable[str],
    columns: Mapping[str, Mapping[str, list[str]]],
    by_origin: Sequence[str] = (),
) -> list[str]:
    """Choose two test sets: one by original language if there is any, then those that papers' columns show first."""
    shown = [tests[0] for paper in columns.values() for tests in paper.values()]
    first = [name for name in shown if name in by_origin] or by_origin
    return list(dict.fromkeys([*first[:1], *shown, *names]))[:2]


def small_test_set(
    name: str, entry: Entry, languages: tuple[str, str], stand_ins: StandIns, by_origin: bool
) -> Entry:
    """Return the entry of a small test set; by_origin: True if it is also measured by original language."""
    made = small_text(("test_sets", name), entry, languages, stand_ins, HELD_OUT)
    if by_origin:
        codes = [languages[row % 2] for row in range(HELD_OUT)]
        made["origlang"] = stand_ins.file(f"test_sets/{name}/origlang", codes)
    return made


def small_validation(
    given: Entry | list[Entry], languages: tuple[str, str], stand_ins: StandIns
) -> Entry | list[Entry]:
    """Return at most two small validation entries."""
    made = [
        small_text(("validation", str(number)), entry, languages, stand_ins, HELD_OUT)
        for number, entry in enumerate(several(given)[:2])
    ]
    return made if isinstance(given, list) else made[0]


def few_best(settings: Any) -> Any:
    """Return settings in which no score keeps more than some rows."""
    if isinstance(settings, Mapping):
        return {
            key: min(value, BEST) if key == "best" else few_best(value)
            for key, value in settings.items()
        }
    return settings
