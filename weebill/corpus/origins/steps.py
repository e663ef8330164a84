"""Steps that make the texts of experiments from originals; `texts.yaml` names the step of each text.

A step takes the originals, {end of the address: local file}, and its options, and yields the lines of the text.
"""

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from weebill.corpus.importers.reading import TextFile, lines
from weebill.corpus.origins.git_tree import git_tree
from weebill.text_files import read_lines

Files = Mapping[str, Path]
Step = Callable[..., Iterable[str]]

DA_COLUMNS = "lp domain system seg_id source reference hypothesis da_z"
MQM_COLUMNS = "lp domain system seg_id source reference hypothesis mqm doc"
MLQE_COLUMNS = "lp domain split seg_id source hypothesis da_raw da_z n_raters nmt_logprob"
PARACRAWL_COLUMNS = "en de hunalign_score ppl_en ppl_de label"
BBC_TREE = "ee9ce007533ba3941b6b887501327d383d2faf23"  # git tree of its folder "BBC News Summary"
SHORTEST_SENTENCE = 15  # characters; shorter ones in news are headings and scores
# Systems of newstest2021 en-de with published text: names in the scores, and names of the files.
ALIKE = "Facebook-AI HuaweiTSC Online-W UEdin VolcTrans-AT VolcTrans-GLAT eTranslation"
MQM_SYSTEMS = {"Nemo": "NVIDIA-NeMo", **{name: name for name in ALIKE.split()}}


def row(*cells: str) -> str:
    """Return the line of a table."""
    return "\t".join(cells)


def header(columns: str) -> str:
    """Return the first line of a table."""
    return row(*columns.split())


def wmt17_assessments(files: Files) -> Iterator[str]:
    """Join the direct assessments of WMT17 into English with source, reference and translation.

    Several systems with the same translation are joined by "+"; the text of the first is used.
    """
    yield header(DA_COLUMNS)
    texts = {name: [line.strip() for line in read_lines(path)] for name, path in files.items()}
    for line in texts["DA-seglevel.csv"][1:]:
        pair, _, system, number, score = line.split(" ")
        if not pair.endswith("-en"):
            continue
        language = pair.removesuffix("-en")
        first = system.partition("+")[0]
        names = (
            f"source/newstest2017-{language}en-src.{language}",
            f"references/newstest2017-{language}en-ref.en",
            f"system-outputs/{pair}/newstest2017.{first}.{pair}",
        )
        found = (texts[name][int(number) - 1] for name in names)
        yield row(pair, "news2017", system, number, *found, score)


def mqm_news(files: Files) -> Iterator[str]:
    """Join the MQM scores of newstest2021 (en-de) with source, reference C and translation.

    If reference C itself is the translation, reference A is the reference.
    """
    yield header(MQM_COLUMNS)
    texts = {name.rpartition("/")[2]: list(read_lines(path)) for name, path in files.items()}
    start = "newstest2021.en-de"
    of_system = {one: texts[f"{start}.hyp.{name}.de"] for one, name in MQM_SYSTEMS.items()}
    of_system |= {f"ref-{one}": texts[f"{start}.ref.{one}.de"] for one in "ACD"}
    for line in texts["mqm_newstest2021_ende.avg_seg_scores.tsv"][1:]:
        system, score, number = line.split()
        if system in of_system and score != "None":
            at = int(number) - 1
            reference = of_system["ref-A" if system == "ref-C" else "ref-C"][at]
            found = texts[f"{start}.src.en"][at], reference, of_system[system][at]
            yield row("en-de", "news", system, number, *found, repr(float(score)), "")


def mqm_ted(files: Files) -> Iterator[str]:
    """Join the MQM scores of TED talks (en-de) with source, reference and translation of the annotations."""
    yield header(MQM_COLUMNS)
    texts = {}
    for line in read_lines(files["mqm_ted_ende.tsv"]):
        cells = line.replace("<v>", "").replace("</v>", "").split("\t")
        texts[cells[0], cells[3]] = cells[5], cells[6], cells[1]
    for line in list(read_lines(files["mqm_ted_ende.avg_seg_scores.tsv"]))[1:]:
        system, score, number = line.split()
        if score == "None":
            continue
        own = "ref" if system == "ref-A" else system  # scores and texts use different names
        source, translation, document = texts[own, number]
        reference = "" if own == "ref" else texts["ref", number][1]
        cells = source, reference, translation, repr(float(score)), document
        yield row("en-de", "ted", system, number, *cells)


def mlqe(files: Files) -> Iterator[str]:
    """Join the parts of MLQE (en-de, Wikipedia): translations with direct assessments, without references."""
    yield header(MLQE_COLUMNS)
    parts = {"train": "en-de.tar.gz", "dev": "en-de.tar.gz", "test20": "en-de_test.tar.gz"}
    for part, archive in parts.items():
        text = TextFile(files[archive], f"*/{part}.ende.df.short.tsv", ".tgz")
        for line in list(lines(text))[1:]:
            cells = line.split("\t")
            raters = str(len(json.loads(cells[3])))
            yield row("en-de", "wiki", part, *cells[:3], cells[4], cells[6], raters, cells[7])


def tatoeba(files: Files, language: str) -> Iterator[str]:
    """Select one side of Tatoeba's English–German pairs, in the order of their checksums.

    White space is normalised; repeated pairs, and pairs with a sentence of the Tatoeba Challenge's test set, are left
    out.
    """
    sides = {Path(name).suffix.removeprefix("."): path for name, path in files.items()}
    held_out = {
        one: {" ".join(line.split()) for line in read_lines(sides[code])}
        for one, code in (("en", "eng"), ("de", "deu"))
    }
    rows = (line.split("\t") for line in lines(TextFile(sides["zip"], "deu.txt", ".zip")))
    pairs = {(" ".join(cells[0].split()), " ".join(cells[1].split())) for cells in rows}
    kept = [one for one in pairs if not (one[0] in held_out["en"] or one[1] in held_out["de"])]
    kept.sort(key=lambda pair: hashlib.sha256(row(*pair).encode()).digest())
    side = ("en", "de").index(language)
    yield from (pair[side] for pair in kept)


def labelled_paracrawl(files: Files) -> Iterator[str]:
    """Add a header to the hand-labelled pairs of ParaCrawl, and drop empty lines."""
    yield header(PARACRAWL_COLUMNS)
    (path,) = files.values()
    yield from (line for line in read_lines(path) if line)


def detokenized(files: Files, language: str) -> Iterator[str]:
    """Undo the Moses tokenization of all lines."""
    from sacremoses import MosesDetokenizer

    join = MosesDetokenizer(lang=language).detokenize
    (path,) = files.values()
    yield from (join(line.split()) for line in read_lines(path))


def german_news(files: Files) -> Iterator[str]:
    """Split the articles of 10kGNAD into sentences."""
    (path,) = files.values()
    with path.open(encoding="utf-8", newline="") as file:
        articles = [cells[1] for cells in csv.reader(file, delimiter=";", quotechar="'")]
    return _sentences(articles, "de")


def bbc_articles(files: Files) -> Iterator[str]:
    """Yield the BBC's articles as JSON objects: id, category, title, article (in lines) and summary."""
    for article in _bbc(files):
        yield json.dumps(article, ensure_ascii=False)


def bbc_sentences(files: Files) -> Iterator[str]:
    """Split the BBC's articles into sentences, without titles and summaries."""
    paragraphs = (line for article in _bbc(files) for line in article["article"].split("\n"))
    return _sentences(paragraphs, "en")


def _bbc(files: Files) -> Iterator[dict[str, str]]:
    (path,) = files.values()
    members = git_tree(path, "News Articles", BBC_TREE)
    kinds: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for name, data in members.items():
        kind, _, rest = name.partition("/")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("latin-1")  # a few articles are not UTF-8
        lines = (" ".join(line.split()) for line in text.split("\n"))
        kinds[kind][rest.removesuffix(".txt")] = [line for line in lines if line]
    for name, lines in sorted(kinds["News Articles"].items()):
        yield {
            "id": name,
            "category": name.partition("/")[0],
            "title": lines[0],
            "article": "\n".join(lines[1:]),
            "summary": " ".join(kinds["Summaries"][name]),
        }


def _sentences(paragraphs: Iterable[str], language: str) -> Iterator[str]:
    """Yield each sentence once, in order, unless it is very short."""
    from sentence_splitter import SentenceSplitter

    split = SentenceSplitter(language=language).split
    found = (one.strip() for text in paragraphs for one in split(text))
    yield from dict.fromkeys(one for one in found if len(one) >= SHORTEST_SENTENCE)


STEPS: Mapping[str, Step] = {
    step.__name__: step
    for step in (wmt17_assessments, mqm_news, mqm_ted, mlqe, tatoeba, labelled_paracrawl, detokenized, german_news,
                 bbc_articles, bbc_sentences)
}  # fmt: skip
