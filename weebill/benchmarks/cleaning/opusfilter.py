"""Cleaning chain of OpusFilter (Aulamo et al. 2020), in an environment of its own because it pins other packages.

It is the part of our chain that OpusFilter can do: its preprocessor gets Moses' substitutions of punctuation, and
it has filters for all but addresses and broken encodings, so it has less work.  Its start and its imports are not
timed.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sacremoses import MosesPunctNormalizer

from weebill.benchmarks.cleaning.ordinary import Pair
from weebill.benchmarks.opponent import Opponent
from weebill.corpus.cleaning.rules import Rules
from weebill.files import write_json, write_text

# Program of the opponent: the task "clean" runs the configured steps once; every task returns the version.
STEPS = """
from importlib.metadata import version
from opusfilter.opusfilter import OpusFilter
with open(arguments[0], encoding="utf-8") as file:
    chain = OpusFilter(json.load(file))
def work(task):
    if task == "clean":
        chain.execute_steps(overwrite=True)
    return version("opusfilter")
"""


class OpusFilterChain(Opponent):
    """OpusFilter process that cleans some pairs."""

    def __init__(
        self,
        python: Path,
        pairs: Sequence[Pair],
        model: Path,
        languages: Sequence[str],
        rules: Rules,
        folder: Path,
        normalise: bool,
    ) -> None:
        """Start OpusFilter.  python: that of its environment.  model: fastText's.  folder: for OpusFilter's files.

        Raises InputError if this Python cannot run OpusFilter.
        """
        self.kept = [folder / name for name in ("opusfilter.kept.source", "opusfilter.kept.target")]
        raw = [folder / name for name in ("opusfilter.source", "opusfilter.target")]
        for path, lines in zip(raw, zip(*pairs, strict=True), strict=True):
            write_text(path, "".join(f"{line}\n" for line in lines))
        configuration = folder / "opusfilter.json"
        steps = opusfilter_steps(raw, self.kept, model, languages, rules, normalise)
        write_json(configuration, {"common": {"output_directory": str(folder)}, "steps": steps})
        names = {"option": "--opusfilter", "environment": "opusfilter"}
        super().__init__(python, STEPS, configuration, folder=folder, **names)
        self.version = self.work("version")

    def clean(self) -> None:
        """Clean the pairs once."""
        self.work("clean")


def opusfilter_steps(
    raw: Sequence[Path],
    kept: Sequence[Path],
    model: Path,
    languages: Sequence[str],
    rules: Rules,
    normalise: bool,
) -> list[dict[str, Any]]:
    """Return our chain as steps of OpusFilter's configuration, for languages in Latin letters."""
    filters = [
        {"LengthFilter": {"min_length": 1, "max_length": rules.max_tokens, "unit": "word"}},
        {"LengthRatioFilter": {"threshold": rules.max_length_ratio, "unit": "word"}},
        {"LongWordFilter": {"threshold": rules.max_word_characters + 1}},
        {
            "AlphabetRatioFilter": {
                "threshold": rules.min_letter_characters,
                "exclude_whitespace": True,
            }
        },
        {"CharacterScoreFilter": {"scripts": ["Latin", "Latin"], "thresholds": [0.5, 0.5]}},
        {"NonZeroNumeralsFilter": {"threshold": 1.0}},
        {
            "FastTextFilter": {
                "languages": list(languages),
                "thresholds": [0, 0],
                "model_path": str(model.resolve()),
            }
        },
    ]
    substitutions = [
        [[pattern, new, 0, []] for pattern, new in MosesPunctNormalizer(language).substitutions]
        for language in languages
    ]
    steps: list[tuple[str, dict[str, Any]]] = [
        ("preprocess", {"preprocessors": [{"RegExpSub": {"lang_patterns": substitutions}}]}),
        ("remove_duplicates", {"lowercase": True, "letters_only": True}),
        ("filter", {"filters": filters}),
    ]
    if not normalise:
        del steps[0]
    files = [list(map(str, raw))]
    files += [[f"{path}.{number}" for path in raw] for number in range(1, len(steps))]
    files.append(list(map(str, kept)))
    return [
        {"type": kind, "parameters": {"inputs": read, "outputs": written, **parameters}}
        for (kind, parameters), (read, written) in zip(steps, pairwise(files), strict=True)
    ]
