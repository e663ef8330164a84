"""Change your own COMET model: write it as a folder (with int8 weights), prune it, or distil it.

MODEL is any model that `weebill score` accepts; FOLDER is new, and `weebill score` accepts it too.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from weebill.arguments import LARGEST, positive, random_seed, real, threads, whole
from weebill.commands.convert import new_folder
from weebill.commands.score import check_streams
from weebill.errors import InputError
from weebill.files import check_folder
from weebill.text_files import check_counts, read_argument

if TYPE_CHECKING:
    from weebill.metric.folder import Metric


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, help_text, add_options, act in (
        ("convert", "write a model as a folder", _convert_options, _convert),
        ("prune", "remove pieces, layers, heads or neurons", _prune_options, _prune),
        ("distil", "train a small model on a model's scores", _distil_options, _distil),
    ):
        action = actions.add_parser(name, help=help_text, description=act.__doc__)
        known = "a metric folder, a checkpoint (folder or .ckpt), or its name on the hub"
        action.add_argument("model", metavar="MODEL", help=known)
        action.add_argument("folder", metavar="FOLDER", help="the folder to make")
        action.add_argument("--encoder", type=Path, metavar="FOLDER",
                            help="config.json and tokenizer.json of a checkpoint's encoder")  # fmt: skip
        add_options(action.add_argument)
        action.set_defaults(act=act)


def run(arguments: argparse.Namespace) -> int:
    """Make the folder.  Raises InputError if the model cannot be read or changed, or the folder exists already."""
    new_folder(arguments.folder)
    arguments.act(arguments)
    return 0


Add = Callable[..., argparse.Action]
DRAWN = {"score": "score", "segments": 2000, "seed": 1}  # judgements: column, number, seed


def _convert_options(add: Add) -> None:
    add("--precision", choices=("int8", "float32"), default="int8",
        help="type of the encoder's weights; default int8")  # fmt: skip


def _convert(arguments: argparse.Namespace) -> None:
    """Write a model as a folder, with int8 weights or unchanged; memory holds one tensor at a time."""
    from weebill.metric.folder import save_metric
    from weebill.metric.network import is_stored
    from weebill.metric.storing import entries

    metric = _read(arguments, stream=arguments.precision == "int8")
    if is_stored(metric.network):
        raise InputError(f"{arguments.model}: its weights are int8 already; copy the folder")
    made = {"kind": "converted", "parent": metric.sha256}
    codes = entries(metric.network) if arguments.precision == "int8" else None
    save_metric(arguments.folder, metric, made, codes)
    _tell(arguments.folder)


def _prune_options(add: Add) -> None:
    add("--vocabulary", type=Path, nargs="+", default=[], metavar="FILE",
        help="keep the pieces of these texts")  # fmt: skip
    add("--languages", nargs="+", action="extend", default=[], metavar="LANG",
        help="keep all pieces in the scripts of these languages")  # fmt: skip
    add("--layers", type=whole(0, LARGEST), default=0, metavar="N", help="remove the N top layers")
    add("--heads", type=real(0, 1), default=0, metavar="SHARE",
        help="share of each layer's heads to remove")  # fmt: skip
    add("--neurons", type=real(0, 1), default=0, metavar="SHARE",
        help="share of each layer's neurons to remove")  # fmt: skip
    add("--judgements", type=Path, metavar="TABLE",
        help="judged segments (config/metric.md has the format), by whose gradients heads and neurons are chosen; by "
        "default the norms of their weights decide")  # fmt: skip
    add("--score", metavar="COLUMN",
        help=f"column of the judgements' scores; default {DRAWN['score']}")  # fmt: skip
    add("--segments", type=positive, metavar="N",
        help=f"judged segments to draw; default {DRAWN['segments']}")  # fmt: skip
    add("--seed", type=random_seed, metavar="N", help=f"seed of this draw; default {DRAWN['seed']}")


def _prune(arguments: argparse.Namespace) -> None:
    """Remove pieces of the vocabulary, top layers, and the least important heads and neurons; nothing is trained."""
    from weebill.metric.folder import save_metric
    from weebill.metric.pruning import prune, prune_by_judgements, remove_top_layers
    from weebill.metric.vocabulary import cut_vocabulary, kept_pieces
    from weebill.pruning.methods import pruning_method

    shares = {name: getattr(arguments, name) for name in ("heads", "neurons")}
    if not (
        any(shares.values()) or arguments.layers or arguments.vocabulary or arguments.languages
    ):
        raise InputError(
            "nothing to remove; give --vocabulary, --languages, --layers, --heads or --neurons"
        )
    drawn = {name: getattr(arguments, name) for name in DRAWN}
    for name, value in drawn.items():
        if arguments.judgements is None and value is not None:
            raise InputError(f"--{name} is of judgements; give their table by --judgements")
    if arguments.judgements and not any(shares.values()):
        raise InputError("--judgements choose heads and neurons; give --heads or --neurons")
    check_streams(arguments.vocabulary)
    drawn = {name: DRAWN[name] if value is None else value for name, value in drawn.items()}
    metric = _read(arguments)
    kept = None
    if arguments.vocabulary or arguments.languages:  # wrong ones are told before the long work
        lines = (line for path in arguments.vocabulary for line in read_argument(path))
        kept = kept_pieces(metric, lines, arguments.languages)
    made = {"kind": "pruned", "parent": metric.sha256}
    if arguments.layers:
        remove_top_layers(metric.network, arguments.layers)
        made["layers"] = arguments.layers
    if any(shares.values()):
        method = {"method": "one-shot", "ranking": "layer", **shares}
        if arguments.judgements is None:
            history = prune(metric, [pruning_method(method | {"criterion": "magnitude"})], None)
            made["heads"] = history.heads
        else:
            tables = [{"table": str(arguments.judgements), "score": drawn["score"]}]
            made |= prune_by_judgements(
                metric, [method], tables, drawn["segments"], drawn["seed"], None, 0
            )
    if kept is not None:
        metric = cut_vocabulary(metric, kept)
        made["pieces"] = len(kept)
    save_metric(arguments.folder, metric, made)
    _tell(arguments.folder)


OPTIONS = {"src": "sources", "ref": "references", "mt": "translations"}


def _distil_options(add: Add) -> None:
    add("-s", "--sources", type=Path, metavar="FILE", help="one segment per line")
    add("-r", "--references", type=Path, metavar="FILE",
        help="references, if the model compares with them")  # fmt: skip
    add("-t", "--translations", type=Path, required=True, metavar="FILE",
        help="translations that the model scores")  # fmt: skip
    add("--layers", type=positive, default=6, metavar="N",
        help="layers of the student, evenly spaced among the model's; default 6")  # fmt: skip
    add("--updates", type=positive, default=2000, metavar="N",
        help="updates of the training; default 2000")  # fmt: skip
    add("--batch", type=positive, default=16, metavar="N", help="segments in an update; default 16")
    add("--learning-rate", type=real(0, 10, above=True), default=3e-5, metavar="R",
        help="learning rate at its peak; default 3e-5")  # fmt: skip
    add("--seed", type=random_seed, default=1, metavar="N", help="seed of the training; default 1")
    add("--threads", type=threads, default=1, metavar="N", help="threads that compute; default 1")


def _distil(arguments: argparse.Namespace) -> None:
    """Score your text by a model, and train a student, made from some of its layers, on these scores."""
    import torch

    from weebill.metric.folder import save_metric
    from weebill.metric.student import StudentSettings, distil

    torch.set_num_threads(arguments.threads)
    files = {"mt": arguments.translations, "src": arguments.sources, "ref": arguments.references}
    given = {name: file for name, file in files.items() if file is not None}
    check_streams(list(given.values()))
    columns = {name: list(read_argument(file)) for name, file in given.items()}
    check_counts((str(file), columns[name]) for name, file in given.items())
    teacher = _read(arguments)
    texts = teacher.network.architecture.texts
    if missing := [name for name in texts if files[name] is None]:
        raise InputError(
            f"{arguments.model}: reads {', '.join(texts)}; give the file of {missing[0]}"
        )
    for name, file in given.items():
        if name not in texts:
            raise InputError(
                f"{file}: {arguments.model} reads {', '.join(texts)} alone; leave out the {OPTIONS[name]}"
            )
    settings = StudentSettings(
        arguments.layers,
        arguments.updates,
        arguments.batch,
        arguments.learning_rate,
        arguments.seed,
    )
    made = distil(teacher, [columns[name] for name in texts], settings)
    save_metric(arguments.folder, made.metric, {"kind": "distilled", "parent": teacher.sha256})
    _tell(arguments.folder)
    told = "undefined: all are equal" if made.correlation is None else f"{made.correlation:.4f}"
    print(f"correlation with the model's scores on {made.held_out:,} segments held out: {told}")


def _read(arguments: argparse.Namespace, *, stream: bool = False) -> "Metric":
    """Read the model, after a check that the folder can be made."""
    from weebill.metric.folder import load_metric

    check_folder(arguments.folder)
    return load_metric(arguments.model, arguments.encoder, stream=stream)


def _tell(folder: str) -> None:
    """Print the parameters and bytes of a metric's folder."""
    from weebill.files import read_json

    parameters = read_json(Path(folder, "config.json"))["parameters"]
    size = sum(file.stat().st_size for file in Path(folder).iterdir())
    print(f"{folder}: {parameters:,} parameters, {size / 1e6:,.1f} MB")
