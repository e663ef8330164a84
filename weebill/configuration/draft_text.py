"""Text of a first configuration, with a comment for each choice."""

import re
from typing import Any

import yaml

from weebill.configuration.draft import Draft, Request
from weebill.configuration.sections.translation import Distillation, Vocabulary
from weebill.settings import sentences
from weebill.translation.training.settings import Hardware, TrainingConfig

COLUMN = 30  # column where comments begin
CLEANING = """\
cleaning:
  language_id:                # fastText's identifier of 176 languages; remove it if yours is none of them
    model: origin:lid/lid.176.ftz
    sha256: 8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83
"""
SMALLER = """\
# Smaller still: methods of pruning, and grids such as log4, are in config/README.md.
quantization: {int8: {}}
"""


def as_yaml(request: Request, draft: Draft) -> str:
    """Return the configuration of a draft as commented YAML, with the cleaning that fits most text."""
    config, machine = draft.config, request.machine
    teacher = dict(config["teacher"])
    training = teacher.pop("training", None)
    gpus = f", {machine.gpus} GPUs" if machine.gpus else ""
    hours = f"{draft.hours:,.1f} hours" if draft.hours >= 1 else f"{60 * draft.hours:,.0f} minutes"
    source, target = request.languages
    parts = [
        f"# From {source} to {target}, written by `weebill init`; config/README.md explains every key.\n"
        f"# Lengths fit {draft.rows:,} rows of text and {machine.cores} cores, {machine.memory_gib:g} GiB{gpus}.\n"
        f"# A run takes about {hours}, by an estimate. If BLEU still rises at the end of a training, give it more\n"
        "# updates.\n",
        _plain(config, "experiment", "seed", "languages"),
        "# Lines that `lines` holds out of a corpus are for validation and tests.\n"
        + _plain(config, "corpora", "validation", "test_sets"),
        CLEANING,
        _explained("vocabulary", config["vocabulary"], Vocabulary),
        "# The teacher translates the training text for the students.\n"
        + yaml.safe_dump({"teacher": teacher}, sort_keys=False, allow_unicode=True)
        + (_explained("training", training, TrainingConfig, "  ") if training else ""),
        _explained("distillation", config["distillation"], Distillation),
        "# Entries of config/models.yaml; `weebill describe --all` shows their sizes.\n"
        + _plain(config, "students")
        + _explained("training", config["training"], TrainingConfig),
        SMALLER,
        _explained("hardware", config["hardware"], Hardware),
    ]
    return "\n".join(parts)


def _plain(config: dict[str, Any], *keys: str) -> str:
    """Return some sections in YAML, with the innermost mappings and lists on one line."""
    chosen = {key: config[key] for key in keys}
    return yaml.safe_dump(
        chosen, sort_keys=False, allow_unicode=True, default_flow_style=None, width=1000
    )


def _explained(name: str, values: dict[str, Any], settings: type, indent: str = "") -> str:
    """Return a section in YAML; each key has the beginning of its sentence in the reference as comment."""
    told, lines = sentences(settings), [f"{indent}{name}:"]
    for key, value in values.items():
        comment = re.split(r"[.:;] ", told[key].rstrip("."))[0]
        setting = yaml.safe_dump({key: value}).strip()
        lines.append(f"{f'{indent}  {setting}'.ljust(COLUMN)}# {comment}")
    return "\n".join(lines) + "\n"
