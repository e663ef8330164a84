"""Make a model folder from a student that Marian trained, to prune, quantize and measure it like any other."""

import argparse

from weebill.commands.convert import new_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL.npz", help="the student, float32")
    parser.add_argument("folder", metavar="FOLDER", help="the model folder to make")
    parser.add_argument("--vocabulary", required=True, metavar="VOCAB.spm",
                        help="its SentencePiece model, of both languages or of the target")  # fmt: skip
    parser.add_argument("--source-vocabulary", metavar="SOURCE.spm",
                        help="that of the source, if the student has two")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Import.  Raises InputError if the student has an unsupported architecture, or the folder exists already."""
    new_folder(arguments.folder)
    from weebill.runtime.exports.marian.conversion import import_model
    from weebill.translation.model.folder import count_parameters, load_model

    vocabularies = arguments.vocabulary, arguments.folder, arguments.source_vocabulary
    import_model(arguments.model, *vocabularies)
    network = load_model(arguments.folder).network
    print(f"{arguments.folder}: {count_parameters(network):,} parameters")
    return 0
