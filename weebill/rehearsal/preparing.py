"""Preparation of a rehearsal: the miniature's configuration and all that it reads, in the folder of its results."""

import json
from pathlib import Path
from typing import NamedTuple

import yaml

from weebill.configuration.checking import check
from weebill.configuration.zoo_file import load_zoo
from weebill.files import write_text
from weebill.rehearsal.making.stand_ins import make_all, with_checksums
from weebill.rehearsal.miniature import miniature
from weebill.yaml_files import read_yaml


class Prepared(NamedTuple):
    """Files of the miniature's configuration and of its future report."""

    config: Path
    report: Path


def prepare(path: Path, full: bool = False) -> Prepared:
    """Write the miniature of a configuration and its stand-ins; existing ones stay.

    Raises InputError with all faults of the configuration, or if the structure of a model of the hub is not known.
    """
    small = miniature(check(read_yaml(path), str(path)), load_zoo(), full)
    results = small.stand_ins.folder.parent
    results.mkdir(parents=True, exist_ok=True)
    make_all(small.stand_ins)
    config = results / "rehearsal.yaml"
    plain = json.loads(json.dumps(with_checksums(small.config)))
    check(plain, str(config))
    heading = f"# Miniature of {path}, written by `weebill rehearse`\n"
    text = heading + yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=110)
    if not config.is_file() or config.read_text("utf-8") != text:
        write_text(config, text)
    return Prepared(config, results / "report.html")
