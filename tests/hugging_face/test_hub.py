"""Models fetched by name and commit from a local hub."""

import hashlib
import json
import subprocess
import sys

import pytest

from tests.corpus.serving import serving
from weebill.corpus.sources import Places
from weebill.errors import InputError
from weebill.files import read_json
from weebill.hugging_face.hub import fetch_model, model_sources
from weebill.rehearsal.making.translators import SENTENCES, make_marian
from weebill.translation.loading import load_translator
from weebill_runtime.options import SearchOptions

COMMIT = "c0ffee" + 34 * "0"
OTHER = ("flax_model.msgpack", "pytorch_model.bin", "README.md")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_marian(tmp_path_factory.mktemp("hub") / "birds/en-de")


@pytest.fixture
def site(model, monkeypatch):
    """Serve a hub with the model and other files."""
    monkeypatch.setattr("weebill.corpus.download.PAUSE_S", 0)
    with serving() as site:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", site.address)
        bodies = {file.name: file.read_bytes() for file in model.iterdir()}
        siblings = []
        for name, body in [*bodies.items(), *((name, b"?") for name in OTHER)]:
            site.add(f"/birds/en-de/resolve/{COMMIT}/{name}", body)
            lfs = {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body)}
            large = name.endswith((".safetensors", ".bin"))
            siblings.append(
                {"rfilename": name, "size": len(body)}
                | ({"lfs": {**lfs, "pointerSize": 130}} if large else {})
            )
        card = {"license": "apache-2.0"}
        info = {"id": "birds/en-de", "sha": COMMIT, "siblings": siblings, "cardData": card}
        site.add(f"/api/models/birds/en-de/revision/{COMMIT}", json.dumps(info).encode())
        yield site


def test_by_name(tmp_path, model, site):
    places = Places(cache=str(tmp_path / "cache"))
    fetch_model("birds/en-de", COMMIT, tmp_path / "out", places)
    options = SearchOptions(beam=3, nbest=3)
    found = load_translator(tmp_path / "out").nbest(SENTENCES, options)
    assert found == load_translator(model).nbest(SENTENCES, options)
    asked = {path.rpartition("/")[2] for path, _ in site.seen}
    assert asked.isdisjoint(OTHER)
    origin = read_json(tmp_path / "out/hub.json")
    assert (origin["revision"], origin["licence"]) == (COMMIT, "apache-2.0")
    weights = hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest()
    assert origin["files"]["model.safetensors"] == weights
    site.files, site.seen = {}, []
    fetch_model("birds/en-de", COMMIT, tmp_path / "again", places)
    assert site.seen == []
    assert (tmp_path / "again/hub.json").read_bytes() == (tmp_path / "out/hub.json").read_bytes()


def test_without_the_hub(tmp_path, model, site):
    site.files = {}
    with pytest.raises(
        InputError, match=r"hub cannot be asked for commit c0ffee.*the model's folder"
    ):
        fetch_model("birds/en-de", COMMIT, tmp_path / "out", Places(cache=str(tmp_path / "cache")))
    own = Places(str(model.parents[1]), str(tmp_path / "cache"))
    fetch_model("birds/en-de", COMMIT, tmp_path / "out", own)
    assert load_translator(tmp_path / "out").translate(SENTENCES)


def test_weights_in_pickles_are_refused(tmp_path, site):
    path = f"/api/models/birds/en-de/revision/{COMMIT}"
    info = json.loads(site.files[path])
    info["siblings"] = [one for one in info["siblings"] if "safetensors" not in one["rfilename"]]
    site.files[path] = json.dumps(info).encode()
    with pytest.raises(
        InputError, match=r"no weights model.safetensors but pytorch_model.bin, a pickle"
    ):
        fetch_model("birds/en-de", COMMIT, tmp_path / "out", Places(cache=str(tmp_path / "cache")))
    assert not (tmp_path / "out").exists()


def test_a_damaged_file_is_not_taken(tmp_path, site):
    path = f"/birds/en-de/resolve/{COMMIT}/model.safetensors"
    site.files[path] = site.files[path][:-1] + b"?"
    with pytest.raises(InputError, match="sha256 is"):
        fetch_model("birds/en-de", COMMIT, tmp_path / "out", Places(cache=str(tmp_path / "cache")))


def test_the_files_that_a_model_is_read_from(tmp_path):
    folder = tmp_path / "birds/en-de"
    folder.mkdir(parents=True)
    parts = ["model-00001-of-00002.safetensors", "model.safetensors-00002-of-00002.safetensors"]
    parts += ["model.safetensors.index.json", "config.json", "spiece.model", "chat_template.jinja"]
    for name in (*parts, "code.py", "pytorch_model.bin", "model.fp16.safetensors", "README.md"):
        (folder / name).touch()
    assert [*model_sources("birds/en-de", COMMIT, Places(str(tmp_path)))] == sorted(parts)


def test_a_process_that_has_imported_nothing_else_knows_addresses():
    """The parts of the hub's library are no attributes of it before something imports them."""
    asked = (
        "from weebill.corpus.hugging_face_hub import address; print(address('model', 'a/b', 'c'))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert done.stdout.endswith("/a/b/resolve/c\n"), done.stderr
