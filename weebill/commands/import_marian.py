"""Make a model folder from a student of Marian or Firefox, to prune, quantize and measure it like any other."""

import argparse

from weebill.commands.convert import new_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL",
        help="a folder of Firefox's files, or a model: .npz, .bin (float32), .intgemm.alphas.bin (int8)")  # fmt: skip
    add("folder", metavar="FOLDER", help="the model folder to make")
    add("--vocabulary", metavar="VOCAB.spm",
        help="SentencePiece model of both languages or of the target; default: the one beside MODEL")  # fmt: skip
    add("--source-vocabulary", metavar="SOURCE.spm",
        help="SentencePiece model of the source, if the student has two")  # fmt: skip
    add("--int8", action="store_true",
        help="keep the integers and activation scales of Firefox's file; by default weights are float32")  # fmt: skip
    add("--shortlist", metavar="FILE", help="also write the shortlist beside the model to FILE")


def run(arguments: argparse.Namespace) -> int:
    """Import.  Raises InputError if the student has an unsupported architecture, or the folder exists already."""
    new_folder(arguments.folder)
    from weebill.runtime.exports.marian.firefox import import_student
    from weebill.translation.model.packed_folder import load_any_model

    vocabularies = arguments.vocabulary, arguments.source_vocabulary
    found = import_student(
        arguments.model, arguments.folder, *vocabularies, arguments.int8, arguments.shortlist
    )
    parameters = load_any_model(arguments.folder).config["parameters"]
    print(f"{arguments.folder}: {parameters:,} parameters, from {found.model.name}")
    if found.shortlist and not arguments.shortlist:
        print(f"{found.shortlist}: a shortlist, not imported; --shortlist FILE writes it")
    return 0
