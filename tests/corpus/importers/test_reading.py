"""Texts in archives; errors of damaged archives differ from errors of the disk."""

import errno
import gzip
import io
import tarfile
import zipfile

import pytest

from weebill.corpus.importers.reading import Controls, TextFile, damage, lines
from weebill.errors import InputError

TEXT = b"eins\n\nzwei\n"


def packed(path, texts):
    """Write a .zip or .tgz with members of given names and contents."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
    else:
        with tarfile.open(path, "w:gz") as archive:
            for name, text in texts.items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
    return path


@pytest.mark.parametrize("suffix", [".zip", ".tgz"])
def test_the_one_member_of_a_pattern(tmp_path, suffix):
    texts = {"README": b"read\n", "x/a.de": b"one\n", "x/a.en": TEXT, "x/a": b"two\n"}
    path = packed(tmp_path / f"one{suffix}", texts)
    assert list(lines(TextFile(path, "*.en", suffix))) == ["eins", "", "zwei"]
    for pattern, found in (("*.fr", "none"), ("x/a.*", "x/a.de, x/a.en")):
        with pytest.raises(InputError, match=f"expected one member .*, found {found}; this is no"):
            list(lines(TextFile(path, pattern, suffix)))


def test_the_given_suffix_counts(tmp_path):
    """The given suffix decides, because fetched files have other names."""
    (tmp_path / "blob").write_bytes(gzip.compress(TEXT))
    (tmp_path / "plain.gz").write_bytes(TEXT)
    (tmp_path / "a.gz").write_bytes(gzip.compress(TEXT))
    for text in (
        TextFile(tmp_path / "blob", suffix=".gz"),
        TextFile(tmp_path / "plain.gz", suffix=""),
        TextFile(tmp_path / "a.gz"),
    ):
        assert list(lines(text)) == ["eins", "", "zwei"]


@pytest.mark.parametrize(("left", "right"), [(1, 5), (4, 1), (3, 2)])
def test_sides_of_unequal_length(tmp_path, left, right):
    """The error counts all lines of the longer side."""
    (tmp_path / "a").write_text("x\n" * left)
    (tmp_path / "b").write_text("y\n" * right)
    pairs = Controls().pairs(TextFile(tmp_path / "a"), TextFile(tmp_path / "b"))
    with pytest.raises(InputError, match=f"a has {left} lines and .*b has {right}; the sides"):
        list(pairs)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.ESTALE])
def test_a_fault_of_the_disk_is_not_called_damage(tmp_path, number):
    with pytest.raises(OSError, match="unplugged"), damage(tmp_path / "a", lambda: ""):
        raise OSError(number, "unplugged")


@pytest.mark.parametrize(
    "error", [OSError("not gzip"), OSError(errno.EINVAL, "no place"), EOFError()]
)
def test_other_faults_are_damage(tmp_path, error):
    told = pytest.raises(InputError, match="a: damaged or truncated after line 3 ")
    with told as caught, damage(tmp_path / "a", lambda: " after line 3"):
        raise error
    assert str(caught.value).endswith("; fetch the file again")
