"""Settings of corpora, validation sets and test sets: the keys of each importer."""

from dataclasses import field
from typing import Annotated, Any, Literal

from weebill.configuration.sections.scores import CorpusCleaning, CorpusTranslation
from weebill.settings import (
    Amount,
    Chosen,
    Commit,
    Count,
    MinLen,
    Place,
    Seed,
    Sha256,
    Share,
    Text,
    Unique,
    section,
)

Damage = Literal["misaligned", "wrong_language", "truncated", "copied"]


@section
class InjectedNoise:
    """Damage done to a corpus on purpose, each damaged row labelled (column `noise`), for the cleaning to find."""

    share: Share
    """Share of the rows that are damaged, on average."""
    kinds: Annotated[tuple[Damage, ...], MinLen(1), Unique()] = (
        "misaligned",
        "wrong_language",
        "truncated",
        "copied",
    )
    """Kinds of damage, which take turns: another row's target; one side in another language; one side broken off; the
    source on both sides."""
    other_languages: Annotated[tuple[Place, ...], Unique()] = ()
    """Text files for `wrong_language`, plain, `.gz` or `.zst`: row n gets line n of one of them; the word `tatoeba`
    stands for embedded French and Dutch sentences."""
    seed: Seed | None = None
    """Seed of the damage; without it one is drawn from the experiment's `seed` and the entry's place."""


@section
class Sized:
    """The size of a corpus."""

    rows: Count | None = None
    """About how many sentence pairs or lines the corpus has. It serves the estimate of disk and time alone, where
    nothing else tells; of importers that read files."""


@section
class Used:
    """Keys of every corpus, whatever its importer."""

    use: Literal["parallel", "monolingual", "monolingual-target"] = "parallel"
    """`parallel`: teachers learn from it, and students from the best of the teacher's 8 translations; `monolingual`:
    a source side alone, which the teacher translates for the students; `monolingual-target`: a target side alone,
    which the reverse teacher translates back."""
    cleaning: CorpusCleaning | None = None
    """Keys of `cleaning` for this corpus alone."""
    back_translation: CorpusTranslation | None = None
    """Keys of `back_translation` for this corpus alone."""
    distillation: CorpusTranslation | None = None
    """Keys of `distillation` for this corpus alone, its scores."""


@section
class Damaged(Used):
    """Damage that is done to a corpus."""

    noise: InjectedNoise | None = None
    """Damage done to a parallel corpus on purpose, for the cleaning to find; the report tells what was found of it
    and measures every filter and score on it."""


@section
class FromFiles:
    """The last keys of an importer of files."""

    control_characters: Literal["error", "replace"] = "error"
    """A NUL or tab inside a line is an error, or with `replace` becomes a space; so is a line break inside a text of
    `hugging_face`."""
    local_dir: Place | None = None
    """Folder in which the files of this entry are looked for before they are fetched: `local_dir` for this entry
    alone."""


@section
class Columns:
    """Columns of a table, counted from 0."""

    source: Amount | None = None
    """Column of the source side."""
    target: Amount | None = None
    """Column of the target side; monolingual text has one of the two."""


@section
class Checksums:
    """Checksums of the files of an entry."""

    source: Sha256 | None = None
    """SHA-256 of `source`."""
    target: Sha256 | None = None
    """SHA-256 of `target`."""
    table: Sha256 | None = None
    """SHA-256 of `table`."""


@section
class Lines:
    """A part of the lines of a text."""

    first: Count
    """First line that is read, counted from 1."""
    last: Count
    """Last line that is read; it must be there, and what follows is not looked at."""


@section
class FilesKeys:
    """Keys of the importer."""

    source: Place | None = None
    """File of the source side."""
    target: Place | None = None
    """File of the target side; monolingual text has one of the two."""
    table: Place | None = None
    """Table of tab-separated values, instead of the two files."""
    columns: Columns | None = None
    """Columns of the table: `{source: 0, target: 1}`, counted from 0."""
    sha256: Checksums = Checksums()
    """Checksums of the files; an address needs one."""


@section
class MtdataKeys:
    """Keys of the importer."""

    name: Text | Annotated[tuple[str, ...], MinLen(1), Unique()]
    """Name of a data set, such as `Statmt-europarl-10-deu-eng`; or a list of names, read one after the other."""
    sha256: dict[str, Sha256] = field(default_factory=dict)
    """Checksum of each file, by its name in `local_dir`. Files are named after the data set, such as
    `Statmt-europarl-10-deu-eng.tsv.gz`; a message names the one that is missing."""


@section
class OpusKeys:
    """Keys of the importer."""

    name: Text
    """Name of the corpus, such as `Europarl`."""
    version: Text
    """Version of the corpus, such as `v8`. Names and versions are checked against OPUS as of mtdata 0.5.1, unless
    there is a `sha256`."""
    sha256: Sha256 | None = None
    """Checksum of the zip, or of the monolingual text. In `local_dir` the file has the name that `opus_get` gives it:
    `Europarl_v8_moses_de-en.txt.zip`, `Europarl_v8_mono_en.txt.gz`."""


@section
class HuggingFaceKeys:
    """Keys of the importer."""

    name: Text | None = None
    """Name of a data set on the hub, such as `wmt/wmt19`; or else `folder`. In `local_dir` the data set's folder has
    this name, `LOCAL_DIR/wmt/wmt19`."""
    revision: Commit | None = None
    """Commit of 40 digits; `name` needs one."""
    folder: Place | None = None
    """Local folder with a data set's files."""
    config: Text | None = None
    """Configuration of the data set, such as `de-en`."""
    split: Text = "train"
    """Split of the data set; the data set's card, or else their names, tell which files are the split's."""
    source_field: Text | None = None
    """Field of a row that has its source side, with dots into what is nested: `translation.en`."""
    target_field: Text | None = None
    """Field of a row that has its target side; monolingual text has one of the two."""


@section
class SacrebleuKeys:
    """Keys of the importer."""

    name: Text
    """Name that sacreBLEU has for the test set, such as `wmt19`."""


@section
class TatoebaKeys:
    """Keys of the importer."""

    pairs: Count
    """Number of pairs."""
    skip: Amount | None = None
    """Number of embedded pairs before them; without it those of the entries before this one, so that no pair is read
    twice: validation and test sets come first, then the corpora."""


@section
class FilesCorpus(FromFiles, FilesKeys, Damaged, Sized):
    """A pair of text files, one sentence a line, or a table of tab-separated values; plain, `.gz` or `.zst`; a local
    path or an `https://` address."""

    lines: Lines | None = None
    """Part of the lines that is read, such as `{first: 1, last: 10000}`: to hold text out, or to see what more of it
    is worth."""


@section
class HuggingFaceCorpus(FromFiles, HuggingFaceKeys, Damaged, Sized):
    """One split of a data set of the [hub](https://huggingface.co/datasets), or of a folder with such a set's files;
    Parquet or JSON Lines. The set's card says which files are the split's, or else their names do."""


@section
class MtdataCorpus(FromFiles, MtdataKeys, Damaged, Sized):
    """Data sets by the names of [mtdata](https://github.com/thammegowda/mtdata) 0.5.1 (`mtdata list -id -l deu-eng`
    shows them), whatever the order of their languages; monolingual text may also be one side of a parallel set. Plain
    text, tables and translation memories (TMX) are read, packed or in archives; from a TMX the units that have both
    languages. mtdata knows no licences."""


@section
class OpusCorpus(FromFiles, OpusKeys, Damaged, Sized):
    """A corpus of [OPUS](https://opus.nlpl.eu) in its plain form for Moses; as monolingual text, all that OPUS has of
    its side's language in it."""


@section
class SacrebleuCorpus(SacrebleuKeys, Damaged):
    """A published test set, fetched by sacreBLEU."""


@section
class TatoebaCorpus(TatoebaKeys, Damaged):
    """English–German pairs that come with Weebill, 20,000 short ones of common words from
    [Tatoeba](https://tatoeba.org), CC BY 2.0 France ([their origin](../weebill/corpus/tatoeba/NOTICE.md))."""


@section
class FilesSet(FromFiles, FilesKeys):
    """A set of text files."""


@section
class HuggingFaceSet(FromFiles, HuggingFaceKeys):
    """A set of the Hugging Face hub."""

    source_field: Text = field()
    """Field of a row that has its source side, with dots into what is nested: `translation.en`."""


@section
class MtdataSet(FromFiles, MtdataKeys):
    """A set of mtdata's index."""


@section
class OpusSet(FromFiles, OpusKeys):
    """A set of OPUS."""


Corpus = Annotated[
    Any,
    Chosen(
        "importer",
        {
            "files": FilesCorpus,
            "hugging_face": HuggingFaceCorpus,
            "mtdata": MtdataCorpus,
            "opus": OpusCorpus,
            "sacrebleu": SacrebleuCorpus,
            "tatoeba": TatoebaCorpus,
        },
    ),
]
TextSet = Annotated[
    Any,
    Chosen(
        "importer",
        {
            "files": FilesSet,
            "hugging_face": HuggingFaceSet,
            "mtdata": MtdataSet,
            "opus": OpusSet,
            "sacrebleu": SacrebleuKeys,
            "tatoeba": TatoebaKeys,
        },
    ),
]
