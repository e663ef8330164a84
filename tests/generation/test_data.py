"""Text import: parts, repeated texts, and faulty files."""

import gzip
import json

import pytest

from tests.generation.small import article, write_articles
from weebill.errors import InputError
from weebill.generation.data import (
    Fields,
    TextData,
    drawn_part,
    import_data,
    read_part,
    task_of,
    text_blocks,
)


def settings(*paths, **more) -> TextData:
    more = {"task": "summarization", "validation_share": 0.3, "test_share": 0.3, **more}
    return TextData(train=[{"path": str(path)} for path in paths], **more)


def test_parts_hold_every_article_once_and_doubles_together(tmp_path):
    rows = [article(number) for number in range(60)]
    path = tmp_path / "articles.jsonl.gz"
    doubled = [*rows, *({**row, "summary": "another"} for row in rows)]
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in doubled).encode()))
    import_data(settings(path), tmp_path / "news")
    parts = {name: read_part(tmp_path / "news", name) for name in ("train", "validation", "test")}
    articles = {name: {row["article"] for row in part} for name, part in parts.items()}
    assert sum(map(len, parts.values())) == 120
    assert sum(map(len, articles.values())) == 60
    assert set().union(*articles.values()) == {row["article"] for row in rows}
    assert min(map(len, articles.values())) >= 8
    assert task_of(tmp_path / "news") == "summarization"


def test_an_articles_part_does_not_depend_on_its_neighbours(tmp_path):
    import_data(settings(write_articles(tmp_path / "a.NDJSON", 30)), tmp_path / "few")
    import_data(settings(write_articles(tmp_path / "b.jsonl", 50)), tmp_path / "many")
    few, many = (
        {row["article"] for row in read_part(tmp_path / name, "test")} for name in ("few", "many")
    )
    assert few <= many
    import_data(settings(tmp_path / "b.jsonl", seed=2), tmp_path / "other")
    assert many != {row["article"] for row in read_part(tmp_path / "other", "test")}


def test_shares_are_kept_in_the_mean():
    drawn = [drawn_part(f"text {n}", 1, {"test": 0.2, "validation": 0.1}) for n in range(5000)]
    assert drawn.count("test") / 5000 == pytest.approx(0.2, abs=0.02)
    assert drawn.count("validation") / 5000 == pytest.approx(0.1, abs=0.02)


def test_given_parts_share_no_text(tmp_path):
    whole = write_articles(tmp_path / "all.jsonl", 20)
    some = write_articles(tmp_path / "some.jsonl", 5)
    import_data(settings(whole, test=[{"path": str(some)}], validation_share=0.2), tmp_path / "out")
    parts = {name: read_part(tmp_path / "out", name) for name in ("train", "validation", "test")}
    assert [row["article"] for row in parts["test"]] == [article(n)["article"] for n in range(5)]
    assert len(parts["train"]) + len(parts["validation"]) == 15
    facts = json.loads((tmp_path / "out/data.json").read_text())
    assert facts["left_out_as_double"] == 5


def test_blocks_are_the_text_cut_at_blank_lines():
    lines = [line for n in range(50) for line in (f"paragraph {n}", "and on", "")]
    blocks = list(text_blocks(lines, 100))
    assert "".join(blocks) == "".join(f"{line}\n" for line in lines)
    assert all(len(block) >= 100 and block.endswith("\n\n") for block in blocks[:-1])


def test_running_text_whose_parts_are_given_is_left_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("= Wren =\n\nA small bird .\n")
    other = tmp_path / "b.txt"
    other.write_text("= Crow =\n")
    third = tmp_path / "c.txt"
    third.write_text("= Owl =\n")
    more = {"validation": [{"path": str(other)}], "test": [{"path": str(third)}]}
    given = settings(path, task="language-modelling", **more)
    import_data(given, tmp_path / "out")
    assert read_part(tmp_path / "out", "train") == [{"text": path.read_text()}]


def test_rows_that_are_lines_are_put_together(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = ["", " = Wren = \n", "", "A small bird .\n", ""]
    path.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    other = tmp_path / "b.txt"
    other.write_text("= Crow =\n")
    given = {"task": "language-modelling", "validation": [{"path": str(other)}]}
    with pytest.raises(InputError, match=r"rows.jsonl:1: field 'text' is empty"):
        import_data(settings(path, test=given["validation"], **given), tmp_path / "out")
    (tmp_path / "c.txt").write_text("= Owl =\n")
    given |= {"test": [{"path": str(tmp_path / "c.txt")}], "rows": "lines"}
    import_data(settings(path, **given), tmp_path / "out")
    text = "\n = Wren = \n\nA small bird .\n\n"
    assert read_part(tmp_path / "out", "train") == [{"text": text}]


def test_other_fields_and_nested_ones(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = ({"doc": {"body": f"long {n}"}, "highlights": "short"} for n in range(30))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = Fields(article="doc.body", summary="highlights")
    import_data(settings(path, fields=fields), tmp_path / "out")
    assert read_part(tmp_path / "out", "train")[0]["summary"] == "short"


def test_a_data_set_of_the_hub_in_a_folder(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    write_articles(folder / "train.jsonl", 30)
    entry = {"folder": str(folder), "split": "train"}
    import_data(TextData(task="summarization", train=[entry], test_share=0.3), tmp_path / "out")
    assert len(read_part(tmp_path / "out", "train")) > 10


def test_empty_rows_are_left_out_on_request(tmp_path):
    """Users cannot remove the empty rows of a data set of the hub."""
    folder = tmp_path / "set"
    folder.mkdir()
    rows = [article(number) for number in range(30)]
    faulty = [{"article": "", "summary": "s"}, {"article": "a", "summary": " "}]
    text = "".join(json.dumps(row) + "\n" for row in [*rows[:9], *faulty, *rows[9:]])
    (folder / "train.jsonl").write_text(text)
    whole = {"task": "summarization", "train": [{"folder": str(folder)}], "test_share": 0.3}
    with pytest.raises(InputError, match=r"train.jsonl:10: field 'article' is empty; .*leave_out"):
        import_data(TextData(**whole), tmp_path / "out")
    import_data(TextData(**whole, empty_rows="leave_out"), tmp_path / "out")
    write_articles(tmp_path / "all.jsonl", 30)
    import_data(settings(tmp_path / "all.jsonl", validation_share=0.1), tmp_path / "known")
    for part in ("train", "validation", "test"):
        assert read_part(tmp_path / "out", part) == read_part(tmp_path / "known", part)
    facts = json.loads((tmp_path / "out/data.json").read_text())
    assert facts["left_out_as_empty"] == 2
    assert "left_out_as_empty" not in json.loads((tmp_path / "known/data.json").read_text())


def test_files_as_programs_write_them(tmp_path):
    """A byte-order mark, empty lines at the end, and one list instead of lines give the same rows."""
    rows = [article(number) for number in range(20)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    forms = {
        "plain.jsonl": lines,
        "mark.jsonl": "\ufeff" + lines,
        "end.jsonl": lines + "\n \r\n",
        "list.json": json.dumps(rows, indent=1),
        "mark.json": "\ufeff " + json.dumps(rows),
    }
    found = []
    for name, text in forms.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        import_data(settings(tmp_path / name), tmp_path / "out")
        found.append([read_part(tmp_path / "out", part) for part in ("train", "validation")])
    assert all(one == found[0] for one in found)
    (tmp_path / "gap.jsonl").write_text(lines.replace("\n", "\n\n", 1))
    with pytest.raises(InputError, match=r"gap.jsonl:2: empty, expected one object"):
        import_data(settings(tmp_path / "gap.jsonl"), tmp_path / "gap")
    (tmp_path / "cut.json").write_text(json.dumps(rows, indent=1)[:100])
    with pytest.raises(InputError, match=r"cut.json:\d: not a list in JSON"):
        import_data(settings(tmp_path / "cut.json"), tmp_path / "cut")
    (tmp_path / "mark.txt").write_text("\ufeffBirds.\n", encoding="utf-8")
    (tmp_path / "other.txt").write_text("Other birds.\n")
    names = {"validation": "other.txt", "test": "mark.txt"}
    parts = {part: [{"path": str(tmp_path / name)}] for part, name in names.items()}
    (tmp_path / "train.txt").write_text("More birds.\n")
    text = settings(tmp_path / "train.txt", task="language-modelling", **parts)
    import_data(text, tmp_path / "text")
    assert read_part(tmp_path / "text", "test") == [{"text": "Birds.\n"}]


def test_running_text_without_blank_lines_cannot_be_divided(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("A long line of text about birds. \n" * 400)
    with pytest.raises(InputError, match=r"part; parts are drawn from blocks that end at blank l"):
        import_data(settings(path, task="language-modelling"), tmp_path / "out")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"article": "a b"}', r"rows.jsonl:2: no field 'summary'; name the right one"),
        ('{"article": "  ", "summary": "s"}', r"rows.jsonl:2: field 'article' is empty; remove"),
        ('{"article": ["a"], "summary": "s"}', r"rows.jsonl:2: field 'article' is list, expected"),
        (
            '{"article": "a \\ud83d", "summary": "s"}',
            r"rows.jsonl:2: field 'article' holds half a char",
        ),
        ("{", r"rows.jsonl:2: not JSON"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, row, message):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(article(1)) + f"\n{row}\n")
    with pytest.raises(InputError, match=message):
        import_data(settings(path), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_plain_text_has_no_summaries(tmp_path):
    (tmp_path / "a.txt").write_text("text\n")
    with pytest.raises(InputError, match=r"a.txt: plain text has no summaries"):
        import_data(settings(tmp_path / "a.txt"), tmp_path / "out")


def test_an_empty_part_is_refused(tmp_path):
    path = write_articles(tmp_path / "a.jsonl", 2)
    with pytest.raises(InputError, match="no text in the"):
        import_data(settings(path), tmp_path / "out")
