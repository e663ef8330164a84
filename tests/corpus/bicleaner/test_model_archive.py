"""Files of a published model are unpacked from an archive, and none is written outside the folder."""

import io
import tarfile

import pytest

from weebill.corpus.bicleaner.model_archive import unpack
from weebill.errors import InputError


@pytest.fixture
def archive(tmp_path):
    """Return a function that makes a .tgz of members with given names; each member's content is its name."""

    def make(*names):
        with tarfile.open(tmp_path / "model.tgz", "w:gz") as file:
            for name in names:
                member = tarfile.TarInfo(name)
                member.size = len(name)
                file.addfile(member, io.BytesIO(name.encode()))
        return tmp_path / "model.tgz"

    return make


@pytest.mark.parametrize("folder", ["", "./", "lite-en-de/"])
def test_the_model_s_own_folder_comes_out(tmp_path, archive, folder):
    unpack(archive(f"{folder}metadata.yaml", f"{folder}model.h5"), tmp_path / "out")
    found = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert found == {name: f"{folder}{name}" for name in ("metadata.yaml", "model.h5")}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a/model.h5"], "0 files metadata.yaml"),
        (["a/metadata.yaml", "b/metadata.yaml"], "2 files metadata.yaml"),
        (["metadata.yaml", "../outside"], "member '../outside' is no file inside"),
        (["metadata.yaml", "/tmp/outside"], "member '/tmp/outside' is no file inside"),
    ],
)
def test_other_archives_are_refused(tmp_path, archive, names, said):
    with pytest.raises(InputError, match=said):
        unpack(archive(*names), tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"model.tgz"}


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_refused(tmp_path, kind):
    """Links that stay inside the folder are refused too."""
    with tarfile.open(tmp_path / "model.tgz", "w:gz") as file:
        file.addfile(tarfile.TarInfo("metadata.yaml"))
        link = tarfile.TarInfo("model.h5")
        link.type, link.linkname = kind, "metadata.yaml"
        file.addfile(link)
    with pytest.raises(InputError, match=r"member 'model\.h5' is no file inside"):
        unpack(tmp_path / "model.tgz", tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"model.tgz"}


@pytest.mark.parametrize("kept", [0, 10, 60])
def test_a_damaged_archive_is_an_error(tmp_path, archive, kept):
    path = archive("metadata.yaml", "model.h5")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError, match=r"model\.tgz: damaged or no archive"):
        unpack(path, tmp_path / "out")
