"""Samples of an entry's rows: their number, choice and order."""

import hashlib
import json

import pytest

from tests.configuration.changes import with_key
from tests.configuration.test_generation import SMALL
from tests.generation.small import article, write_articles
from weebill.configuration.checking import check
from weebill.corpus.sources import Places
from weebill.errors import InputError
from weebill.generation.data import PARTS, Fields, TextData, import_data, read_part
from weebill.generation.sampling import sample


def rows(count: int) -> list[dict[str, str]]:
    return [{"text": f"text {number}"} for number in range(count)]


def first_digits(text: str, seed: int) -> int:
    """Return the number that decides whether a text is drawn: the first hexadecimal digits of its digest."""
    return int(hashlib.sha256(f"sample {seed}\n{text}".encode()).hexdigest()[:16], 16)


def imported(tmp_path, name: str, seed: int = 1, **keys) -> list[str]:
    """Import a sample of 200 articles; return the articles of all parts, and check that they are whole."""
    path = write_articles(tmp_path / f"{name}.jsonl", 200)
    entry = {"path": str(path), **keys}
    import_data(TextData(task="summarization", train=[entry], seed=seed), tmp_path / name)
    found = [row for part in PARTS for row in read_part(tmp_path / name, part)]
    known = [article(number) for number in range(200)]
    assert all(row in known for row in found)
    facts = json.loads((tmp_path / name / "data.json").read_text())
    assert sum(facts["rows"].values()) == len(found)
    return [row["article"] for row in found]


def test_a_number_of_rows_is_that_of_the_lowest_hashes_in_their_order():
    every = rows(50)
    chosen = list(sample(every, {"take": 7}, "text", 3, "train[0]"))
    lowest = sorted(every, key=lambda row: first_digits(row["text"], 3))[:7]
    assert chosen == [row for row in every if row in lowest]
    doubled = [{"text": "same", "n": str(number)} for number in range(4)]
    assert list(sample(doubled, {"take": 2}, "text", 3, "train[0]")) == doubled[:2]


def test_a_share_of_rows_is_kept_and_grows_with_the_share():
    every = rows(4000)
    some, more = (list(sample(every, {"share": s}, "text", 1, "train[0]")) for s in (0.1, 0.2))
    limit = 0.1 * 2**64
    assert some == [row for row in every if first_digits(row["text"], 1) < limit]
    assert len(some) / 4000 == pytest.approx(0.1, abs=0.015)
    assert all(row in more for row in some)
    assert list(sample(every, {}, "text", 1, "train[0]")) == every
    assert list(sample(every, {"share": 1.0}, "text", 1, "train[0]")) == every


def test_a_sample_has_the_parts_of_the_whole(tmp_path):
    """If samples used the hash that assigns the parts, the lowest fifth would be test articles only."""
    assert len(imported(tmp_path, "taken", take=40)) == 40
    sizes = {part: len(read_part(tmp_path / "taken", part)) for part in PARTS}
    assert sizes["train"] >= 25 and min(sizes.values()) > 0
    imported(tmp_path, "all")
    whole = {part: {row["article"] for row in read_part(tmp_path / "all", part)} for part in PARTS}
    for part in PARTS:  # a text's part does not depend on the sample
        assert {row["article"] for row in read_part(tmp_path / "taken", part)} <= whole[part]


def test_a_sample_follows_from_the_seed(tmp_path):
    one, same, other = (
        imported(tmp_path, name, seed, share=0.3) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert one == same and set(one) != set(other)


def test_given_parts_and_running_text_are_sampled_too(tmp_path):
    lines = "".join(f"{article(n)['article']}\n\n" for n in range(900))
    (tmp_path / "text.txt").write_text(lines)
    (tmp_path / "other.txt").write_text("= Owl =\n")
    whole, given = {"path": str(tmp_path / "text.txt")}, [{"path": str(tmp_path / "other.txt")}]
    text = TextData(
        task="language-modelling",
        train=[{**whole, "take": 5}],
        validation=[{**whole, "take": 3}],
        test=given,
    )
    import_data(text, tmp_path / "out")
    blocks = {part: [r["text"] for r in read_part(tmp_path / "out", part)] for part in PARTS}
    # Both samples take the lowest hashes; texts of the validation part are removed from the training part.
    assert [len(blocks[part]) for part in PARTS] == [2, 3, 1]
    assert all(block in lines and len(block) >= 2000 for block in blocks["train"])


def test_too_few_rows_are_told():
    with pytest.raises(
        InputError, match=r"^test\[1\].take: found 9, and the entry has 4 rows; lower"
    ):
        list(sample(rows(4), {"take": 9}, "text", 1, "test[1]"))


def test_a_data_set_of_the_hub_is_sampled(tmp_path):
    """The same entry as config/textgen.yaml's for OpenWebText, with the data set's files in `local_dir`."""
    folder = tmp_path / "Skylion007/openwebtext"
    folder.mkdir(parents=True)
    texts = [f"Document {number}.\nIt has two lines." for number in range(60)]
    (folder / "train.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
    entry = {"name": "Skylion007/openwebtext", "revision": "0" * 40, "take": 30}
    config = with_key(SMALL, ["data", "wikitext"], {"task": "language-modelling", "train": [entry]})
    given = check(config, "x.yaml")["data"]["wikitext"]
    settings = TextData(**{**given, "fields": Fields(**given["fields"])})
    import_data(settings, tmp_path / "out", Places(local_dir=str(tmp_path)))
    found = [row["text"] for part in PARTS for row in read_part(tmp_path / "out", part)]
    assert len(found) == 30 and set(found) < set(texts)
