"""Code in a model folder, an archive or a data file never runs, as SECURITY.md promises.

The test searches the syntax of all modules and scripts for calls with which foreign code could run.  Files with
hostile content are tested with their readers, in the tests that SECURITY.md names.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from weebill.yaml_files import _StrictLoader

ROOT = Path(__file__).parents[1]
FOLDERS = ("weebill", "runtime", "workflow_scripts", "envs", "snakemake_logger_plugin_weebill")
PATHS = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
TEXTS = [ROOT / "Snakefile", *sorted(ROOT.glob("rules/**/*.smk"))]

# Only these files may use what is refused elsewhere.
ALLOWED = {
    ("from_pretrained", "weebill/hugging_face/loading.py"),
    ("yaml.load", "weebill/yaml_files.py"),  # with a loader that is checked below
    ("pickle", "weebill/translation/training/pieces.py"),  # pipes to own processes
    ("pickle", "weebill/metric/checkpoint.py"),  # the class of an error
    ("urlopen", "weebill/corpus/download.py"),
    ("snapshot_download", "weebill/metric/checkpoint.py"),
    ("fit", "weebill/metric/regression.py"),  # pytorch-lightning 2.5 lacks weights_only
}
PICKLES = ("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal")
NETWORK = ("urlopen", "urlretrieve", "snapshot_download", "hf_hub_download")
YAML = ("load", "load_all", "unsafe_load", "unsafe_load_all", "full_load", "full_load_all")
LOADERS = ("Loader", "CLoader", "FullLoader", "CFullLoader", "UnsafeLoader", "CUnsafeLoader")


def refused(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the name and the line of each use of something that may run foreign code."""
    for node in ast.walk(tree):
        for found in (*_imported(node), _named(node), _called(node)):
            if found is not None:
                yield found, node.lineno


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return
    yield from (one for one in PICKLES if one in names)
    # If these were imported by name, calls could not be recognised.
    bare = ("torch.load", "numpy.load", "os.system", "os.popen", "shutil.unpack_archive")
    yield from (one for one in (*bare, *(f"yaml.{one}" for one in YAML + LOADERS)) if one in names)


def _named(node: ast.AST) -> str | None:
    """Return an attribute or name that is always refused; None for other nodes."""
    if not isinstance(node, ast.Attribute):
        return node.id if isinstance(node, ast.Name) and node.id in NETWORK else None
    if node.attr in ("from_pretrained", "read_pickle", "unpack_archive", *NETWORK):
        return node.attr
    owner = getattr(node.value, "id", "")
    if owner == "yaml" and node.attr in LOADERS:
        return f"yaml.{node.attr}"
    if owner == "os" and node.attr in ("system", "popen"):
        return f"os.{node.attr}"
    return "torch.hub" if owner == "torch" and node.attr == "hub" else None


def _called(node: ast.AST) -> str | None:
    """Return a call without the argument that makes it safe; None for other nodes."""
    if not isinstance(node, ast.Call):
        return None
    given = {one.arg: getattr(one.value, "value", None) for one in node.keywords}
    if isinstance(node.func, ast.Name):
        bare = ("eval", "exec", "compile", "__import__")
        return node.func.id if node.func.id in bare else _shell(given)
    if not isinstance(node.func, ast.Attribute):
        return None
    name, owner = node.func.attr, getattr(node.func.value, "id", "")
    if owner == "torch" and name == "load" and given.get("weights_only") is not True:
        return "torch.load"
    if owner in ("np", "numpy") and name == "load" and given.get("allow_pickle") is not False:
        return "np.load"
    if name in ("read_array", "write_array") and given.get("allow_pickle") is not False:
        return name
    if owner == "yaml" and name in YAML:
        return f"yaml.{name}"
    if name in ("extract", "extractall") and given.get("filter") != "data":
        return name
    if name == "fit" and "ckpt_path" in given and given.get("weights_only") is not True:
        return "fit"
    return _shell(given)


def _shell(given: dict[str, object]) -> str | None:
    return "shell" if given.get("shell", False) is not False else None


def test_no_code_of_files_is_run():
    found = {
        (name, path.relative_to(ROOT).as_posix()): line
        for path in PATHS
        for name, line in refused(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert len(PATHS) > 300
    assert {place: line for place, line in found.items() if place not in ALLOWED} == {}
    assert ALLOWED - found.keys() == set()  # no exception is unused


def test_the_rules_neither():
    pattern = r"\b(eval|exec|pickle|joblib|torch\.load|np\.load|yaml\.(load|unsafe|full))\b"
    for path in TEXTS:
        text = re.sub(r"storage\.\w+|shell:", "", path.read_text(encoding="utf-8"))
        assert not re.search(pattern, text), path


@pytest.mark.parametrize(
    "source",
    [
        "AutoModel.from_pretrained(folder, trust_remote_code=False)",
        "read = kind.from_pretrained",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "torch.load(path, weights_only=chosen)",
        "from torch import load",
        "np.load(path)",
        "numpy.load(path, allow_pickle=True)",
        "np.lib.format.read_array(file)",
        "yaml.load(text, Loader=yaml.SafeLoader)",
        "yaml.unsafe_load(text)",
        "kind = yaml.Loader",
        "from yaml import full_load",
        "import pickle",
        "from pickle import loads",
        "import joblib as safe",
        "pandas.read_pickle(path)",
        "eval(text)",
        "exec(compile(text, 'x', 'exec'))",
        "archive.extractall(folder)",
        "archive.extract(member, filter='tar')",
        "shutil.unpack_archive(path)",
        "subprocess.run(line, shell=True)",
        "run(line, shell=asked)",
        "os.system(line)",
        "torch.hub.load('some/one', 'x')",
        "trainer.fit(task, ckpt_path=last)",
        "urllib.request.urlopen(address)",
    ],
)
def test_what_is_refused_is_found(source):
    assert [*refused(ast.parse(source))]


@pytest.mark.parametrize(
    "source",
    [
        "torch.load(path, map_location='cpu', weights_only=True)",
        "np.load(path, allow_pickle=False)",
        "yaml.safe_load(text)",
        "archive.extractall(folder, filter='data')",
        "model.eval()",
        "re.compile(pattern)",
        "json.load(file)",
    ],
)
def test_what_is_safe_is_not_found(source):
    assert [*refused(ast.parse(source))] == []


def test_configurations_are_plain_yaml():
    assert issubclass(_StrictLoader, yaml.SafeLoader)
    constructors = _StrictLoader.yaml_constructors
    assert not any(
        "python" in str(tag) for tag in (*constructors, *_StrictLoader.yaml_multi_constructors)
    )


def test_the_document_names_tests_that_exist():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|weebill|docs)/[\w./]+)`", text)
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).exists()] == []
