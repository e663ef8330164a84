"""Translate standard input greedily by the runtime and by PyTorch, and report their agreement.

PyTorch computes an int8 student with exact sums of codes, which equals the fake-quantized network up to float32
rounding.  A difference is a tie if PyTorch itself prefers the runtime's piece after such a rounding of its inputs.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weebill.arguments import positive, threads
from weebill.errors import InputError
from weebill.text_files import decoded_lines, read_lines, standard_input

if TYPE_CHECKING:
    from weebill_runtime.vocabulary import AnyVocabulary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", help="a student's folder, of any precision")
    add("--references", type=Path, metavar="FILE",
        help="score the translations of both by BLEU and chrF against this text")  # fmt: skip
    add("--target", metavar="LANG",
        help="with --references: their language, or a tokenizer of sacreBLEU, for BLEU's tokens: ja, zh, th, char; "
        "default: the language that the model's vocabulary records")  # fmt: skip
    add("--isa", help="the runtime's instruction set, or portable; default: the fastest here")
    add("--batch-size", type=positive, default=32, metavar="N",
        help="sentences in a batch; default 32")  # fmt: skip
    add("--threads", type=threads, default=1, metavar="N", help="threads of each; default 1")
    add("--json", action="store_true", help="print JSON, with every difference")


def run(arguments: argparse.Namespace) -> int:
    """Compare; return 0 for any result.  Raises InputError for bad input, or if the instruction set is missing."""
    import torch

    torch.set_num_threads(arguments.threads)
    sentences = list(decoded_lines(standard_input(), "standard input"))
    if not sentences:
        raise InputError("standard input is empty; give sentences to translate, one a line")
    path, references, target = arguments.references, None, arguments.target
    if target is not None:
        from weebill.commands.bleu_target import check_target

        if path is None:
            raise InputError(
                "--target: only BLEU's tokens depend on it; add --references, or leave it out"
            )
        check_target(target)
    if path is not None:
        references = list(read_lines(path))
        if len(references) != len(sentences):
            raise InputError(
                f"{path}: {len(references):,} lines, standard input has {len(sentences):,}; give a reference a "
                "sentence"
            )
    isa, batch_size = arguments.isa, arguments.batch_size
    found = compare(arguments.model, sentences, references, isa, batch_size, target)
    print(json.dumps(found, indent=2, ensure_ascii=False) if arguments.json else _text(found))
    return 0


def compare(
    folder: str | Path,
    sentences: list[str],
    references: list[str] | None = None,
    isa: str | None = None,
    batch_size: int = 32,
    target: str | None = None,
) -> dict[str, Any]:
    """Return the command's result as plain values.

    target: language of the references, as in `weebill.bleu`; None: that which the model's vocabulary records.
    Raises InputError as `load_runtime` does, or if BLEU needs a target that is not known.
    """
    from weebill.evaluation.quality.agreement import differences
    from weebill.runtime.text import load_runtime
    from weebill.translation.model.packed_folder import load_any_model
    from weebill.translation.search import greedy
    from weebill.translation.search.prepacked import prepacked
    from weebill_runtime.options import SearchOptions, find_cuts

    translator = load_runtime(folder, isa)
    model = load_any_model(folder)
    metrics = [] if references is None else _metrics(target, model.vocabulary, references)
    options = SearchOptions(batch_size=batch_size)
    sources = model.vocabulary.encode_input(sentences)
    for cut in find_cuts(sources, options):
        place = f"standard input:{cut.sentence + 1}"
        print(f"weebill: {place}: {cut} for both engines; split the line", file=sys.stderr)
    ours = translator.students[0].translate(sources, options)
    with prepacked([model.network]):
        theirs = greedy([model.network], sources, options)
    unlike = differences(model.network, sources, ours, theirs, options)
    found: dict[str, Any] = {
        "model": str(folder),
        "grid": model.config.get("quantization", {}).get("grid", "float32"),
        "isa": translator.isa,
        "sentences": len(sentences),
        "identical": len(sentences) - len(unlike),
        "ties": sum(one.tie for one in unlike),
        "differences": [asdict(one) for one in unlike],
    }
    if metrics:
        for engine, pieces in (("runtime", ours), ("pytorch", theirs)):
            texts = model.vocabulary.target.decode(pieces)
            scores = [metric.corpus_score(texts, [references]).score for metric in metrics]
            found[engine] = dict(zip(("BLEU", "chrF"), scores, strict=True))
        found["signatures"] = [metric.get_signature().format() for metric in metrics]
    return found


def _metrics(target: str | None, vocabulary: "AnyVocabulary", references: list[str]) -> list[Any]:
    """Return BLEU with the tokens of the target language, and chrF."""
    from sacrebleu.metrics import CHRF

    from weebill.bleu import bleu
    from weebill.commands.bleu_target import require_target

    record = vocabulary.normalisation
    target = target or (record.target.language if record else None)
    require_target(target, references)
    return [bleu(target or ""), CHRF()]


def _text(found: dict[str, Any]) -> str:
    total, identical = found["sentences"], found["identical"]
    percent = identical * 10_000 // total / 100  # rounded down, since only all lines are 100%
    lines = [
        f"{total:,} sentences, {found['grid']}: runtime ({found['isa']}) against PyTorch",
        f"identical    {identical:,} ({percent:.2f}%)",
    ]
    if unlike := found["differences"]:
        widest = max(unlike, key=lambda one: abs(one["gap"]))
        lines += [
            f"different    {len(unlike):,}, of which ties {found['ties']:,}",
            f"widest gap   {abs(widest['gap']):.6f} between the logits of two pieces, "
            f"line {widest['sentence'] + 1}, piece {widest['position'] + 1}",
        ]
    for metric, signature in zip(
        found.get("runtime", {}), found.get("signatures", []), strict=True
    ):
        ours, theirs = found["runtime"][metric], found["pytorch"][metric]
        change = f"{ours:.2f}, PyTorch {theirs:.2f} ({ours - theirs:+.3f})"
        lines.append(f"{metric:12} {change}  {signature}")
    return "\n".join(lines)
