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
    """Deliberate damage to a corpus, which tests the cleaning; the column `noise` labels each damaged row."""

    share: Share
    """Average share of the rows that are damaged."""
    kinds: Annotated[tuple[Damage, ...], MinLen(1), Unique()] = (
        "misaligned",
        "wrong_language",
        "truncated",
        "copied",
    )
    """Kinds of damage, which take turns: another row's target; one side in another language; one side cut short; the
    source on both sides."""
    other_languages: Annotated[tuple[Place, ...], Unique()] = ()
    """Text files for `wrong_language`, plain, `.gz` or `.zst`: row n gets line n of one of them. The word `tatoeba`
    selects embedded French and Dutch sentences."""
    seed: Seed | None = None
    """Seed of the damage; by default derived from the experiment's `seed` and the entry's key path."""


@section
class Sized:
    """Size of a corpus."""

    rows: Count | None = None
    """Approximate number of sentence pairs or lines in the corpus, for importers that read files. Only the estimate
    of disk and time uses it, if the size is otherwise unknown."""


@section
class Used:
    """Keys of every corpus, independent of its importer."""

    use: Literal["parallel", "monolingual", "monolingual-target"] = "parallel"
    """`parallel`: teachers learn from it, and students from the best of the teacher's 8 translations; `monolingual`:
    only a source side, which the teacher translates for the students; `monolingual-target`: only a target side, which
    the reverse teacher translates back."""
    cleaning: CorpusCleaning | None = None
    """Keys of `cleaning` for this corpus only."""
    back_translation: CorpusTranslation | None = None
    """Keys of `back_translation` for this corpus only."""
    distillation: CorpusTranslation | None = None
    """Keys of `distillation`, only its scores, for this corpus only."""


@section
class Damaged(Used):
    """Keys of a corpus that may be damaged deliberately."""

    noise: InjectedNoise | None = None
    """Deliberate damage to a parallel corpus, which tests the cleaning; the report shows how much of it was found,
    and measures every filter and score on it."""


@section
class FromFiles:
    """Last keys of an importer of files."""

    control_characters: Literal["error", "replace"] = "error"
    """Treatment of a NUL or tab inside a line, and of a line break inside a text of `hugging_face`: `error` stops,
    `replace` makes it a space."""
    local_dir: Place | None = None
    """Folder that is searched for the files of this entry before they are downloaded: `local_dir` for this entry
    only."""


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
    """Range of lines in a text."""

    first: Count
    """First line that is read, counted from 1."""
    last: Count
    """Last line that is read; it must exist, and later lines are ignored."""


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
    """Version of the corpus, such as `v8`. Names and versions are checked against the index of OPUS in mtdata 0.5.1,
    unless there is a `sha256`."""
    sha256: Sha256 | None = None
    """Checksum of the zip file, or of the monolingual text. In `local_dir` the file has the name that `opus_get`
    gives it: `Europarl_v8_moses_de-en.txt.zip`, `Europarl_v8_mono_en.txt.gz`."""


@section
class HuggingFaceKeys:
    """Keys of the importer."""

    name: Text | None = None
    """Name of a data set on the hub, such as `wmt/wmt19`; the alternative is `folder`. In `local_dir` the data set's
    folder has this name, `LOCAL_DIR/wmt/wmt19`."""
    revision: Commit | None = None
    """Commit of 40 digits; `name` needs one."""
    folder: Place | None = None
    """Local folder with a data set's files."""
    config: Text | None = None
    """Configuration of the data set, such as `de-en`."""
    split: Text = "train"
    """Split of the data set; the data set's card, or else the file names, say which files belong to it."""
    source_field: Text | None = None
    """Field of a row that contains its source side, with dots into nested fields: `translation.en`."""
    target_field: Text | None = None
    """Field of a row that contains its target side; monolingual text has one of the two."""


@section
class SacrebleuKeys:
    """Keys of the importer."""

    name: Text
    """Name of the test set in sacreBLEU, such as `wmt19`."""


@section
class TatoebaKeys:
    """Keys of the importer."""

    pairs: Count
    """Number of pairs."""
    skip: Amount | None = None
    """Number of embedded pairs to skip; by default the pairs of all earlier entries, so that no pair is read twice:
    validation and test sets come first, then the corpora."""


@section
class FilesCorpus(FromFiles, FilesKeys, Damaged, Sized):
    """Pair of text files with one sentence per line, or table of tab-separated values.

    Files are plain, `.gz` or `.zst`. Each is a local path or an `https://` address.
    """

    lines: Lines | None = None
    """Range of lines that is read, such as `{first: 1, last: 10000}`: to hold text out, or to measure the value of
    more text."""


@section
class HuggingFaceCorpus(FromFiles, HuggingFaceKeys, Damaged, Sized):
    """One split of a data set on the [hub](https://huggingface.co/datasets), or in a folder with the set's files.

    Files are Parquet or JSON Lines. The set's card, or else the file names, say which files belong to the split.
    """


@section
class MtdataCorpus(FromFiles, MtdataKeys, Damaged, Sized):
    """Data sets by their names in [mtdata](https://github.com/thammegowda/mtdata) 0.5.1.

    `mtdata list -id -l deu-eng` shows the names. The order of a set's languages does not matter; monolingual text may
    also be one side of a parallel set. The importer reads plain text, tables and translation memories (TMX),
    compressed or in archives; from a TMX it reads the units that have both languages. mtdata does not record
    licences.
    """


@section
class OpusCorpus(FromFiles, OpusKeys, Damaged, Sized):
    """Corpus of [OPUS](https://opus.nlpl.eu) in its plain form for Moses.

    Monolingual text is all text of the corpus in that side's language.
    """


@section
class SacrebleuCorpus(SacrebleuKeys, Damaged):
    """Published test set, which sacreBLEU downloads."""


@section
class TatoebaCorpus(TatoebaKeys, Damaged):
    """English–German pairs that come with Weebill.

    They are 20,000 short pairs of common words from [Tatoeba](https://tatoeba.org), CC BY 2.0 France
    ([their origin](../weebill/corpus/tatoeba/NOTICE.md)).
    """


@section
class FilesSet(FromFiles, FilesKeys):
    """Validation or test set in text files."""


@section
class HuggingFaceSet(FromFiles, HuggingFaceKeys):
    """Validation or test set on the Hugging Face hub."""

    source_field: Text = field()
    """Field of a row that contains its source side, with dots into nested fields: `translation.en`."""


@section
class MtdataSet(FromFiles, MtdataKeys):
    """Validation or test set in mtdata's index."""


@section
class OpusSet(FromFiles, OpusKeys):
    """Validation or test set in OPUS."""


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
