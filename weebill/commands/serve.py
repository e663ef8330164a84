"""Serve translations over HTTP, for programs that know LibreTranslate: /translate, /languages, /health."""

import argparse
import re

from weebill.arguments import add_threads, whole
from weebill.errors import InputError
from weebill.settings import LANGUAGE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL",
        help="a model folder, or a folder with one model for each precision")  # fmt: skip
    add("--precision", metavar="P", help="same as in `weebill translate`")
    add("--device", default="cpu", help="cpu, cuda, cuda:1, …; default cpu")
    add("--host", default="127.0.0.1",
        help="address to listen on; default 127.0.0.1, for programs on this machine only")  # fmt: skip
    add("--port", type=whole(0, 65535), default=5000, metavar="N",
        help="port to listen on; default 5000; 0 takes any free port")  # fmt: skip
    add_threads(parser)
    add("--shortlist", metavar="FILE", help="translate with the pieces of this shortlist only")
    add("--isa", metavar="SET", help="same as in `weebill translate`")
    add("--languages", nargs=2, metavar=("FROM", "TO"),
        help="for a Hugging Face model, or a model whose vocabulary does not record its languages")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C, then finish accepted requests.  Raises InputError for a bad model or option."""
    from weebill.corpus.language_codes import language_name
    from weebill.hugging_face.recognition import is_hugging_face
    from weebill.runtime.loading import limit_torch, load
    from weebill_runtime.languages import same_language
    from weebill_runtime.options import SearchOptions
    from weebill_runtime.server import Server, serve

    given = arguments.languages and tuple(arguments.languages)
    for code in given or ():
        if not re.fullmatch(LANGUAGE.pattern, code):
            raise InputError(f"language '{code}': expected {LANGUAGE.expected}")
    if not arguments.host:  # Python would listen on all addresses
        raise InputError("--host: found '', expected an address; 0.0.0.0 stands for all")
    translator = load(
        arguments.model,
        arguments.precision,
        device=arguments.device,
        threads=arguments.threads,
        isa=arguments.isa,
        shortlist=arguments.shortlist,
        languages=given if is_hugging_face(arguments.model) else None,
    )
    limit_torch(translator, arguments.threads, arguments.device)
    vocabulary = getattr(translator, "vocabulary", None)
    record = vocabulary and vocabulary.normalisation
    recorded = record and (record.source.language, record.target.language)
    if given and recorded and not all(map(same_language, given, recorded)):
        raise InputError(
            f"--languages {' '.join(given)}: the vocabulary of {arguments.model} records {' '.join(recorded)}; leave "
            "it out"
        )
    languages = given or recorded
    if not languages:
        raise InputError(
            f"{arguments.model}: its vocabulary does not record the languages; name them by --languages FROM TO"
        )
    options = SearchOptions(batch_size=None)
    serve(
        Server(
            (arguments.host, arguments.port),
            lambda lines: translator.translate(lines, options),
            languages,
            tuple(map(language_name, languages)),
        )
    )
    return 0
