"""The extension is found, or the error names the missing part."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from torch.utils._cpp_extension_versioner import ExtensionVersioner

from tests.runtime.conftest import network, quantized
from tests.small_models import make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.kernels import extension as module
from weebill.runtime import text
from weebill.runtime.translator import Runtime


def test_the_processor_decides(monkeypatch):
    monkeypatch.setattr(module, "_processor_flags", lambda: {"avx2", "fma", "avx512f"})
    assert module.available() == ["avx2"]
    monkeypatch.setattr(module, "_processor_flags", lambda: {"avx2", "fma", "avx_vnni"})
    assert module.available() == ["avxvnni", "avx2"]
    monkeypatch.setattr(module, "_processor_flags", lambda: set())
    assert module.available() == []


@pytest.mark.parametrize("granted", [True, False])
def test_linux_may_refuse_the_matrix_unit(monkeypatch, granted):
    monkeypatch.setattr(module, "_processor_flags", lambda: set(module.NEEDS["amx"]))
    monkeypatch.setattr(module, "_may_use_matrix_unit", lambda: granted)
    assert module.available() == [*(["amx"] if granted else []), "vnni", "avx2"]


def test_an_unknown_instruction_set_is_named():
    for refuse in (module.extension, module.check_instruction_set):
        with pytest.raises(InputError, match="no instruction set 'vnn'; did you mean 'vnni'"):
            refuse("vnn")
        with pytest.raises(
            InputError, match=r"'neon'; there are amx, vnni, avxvnni, avx2, portable$"
        ):
            refuse("neon")


def test_portable_is_everywhere(monkeypatch):
    monkeypatch.setattr(module, "available", lambda: [])
    module.check_instruction_set("portable")
    with pytest.raises(InputError, match=r"'avx2': this machine lacks it; it has portable$"):
        module.check_instruction_set("avx2")


def test_a_missing_compiler_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    with pytest.raises(InputError, match="'no-such-compiler' is no compiler"):
        module.extension.__wrapped__("avx2")


def test_a_compiler_that_fails_is_named(monkeypatch, tmp_path):
    # torch would give another name to what this process compiles after the failure
    monkeypatch.setattr("torch.utils.cpp_extension.JIT_EXTENSION_VERSIONER", ExtensionVersioner())
    monkeypatch.setenv("CXX", "false")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    with pytest.raises(InputError, match="did not compile for avx2"):
        module.extension.__wrapped__("avx2")
    assert not list(tmp_path.rglob(module.BUILT))


@pytest.mark.skipif(
    not module.available(), reason="this processor has no set that the extension knows"
)
def test_a_process_that_has_not_imported_torch_finds_it():
    isa = module.available()[0]
    module.extension(isa)  # built
    program = f"from weebill.kernels.extension import extension; print(extension('{isa}').__file__)"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == module.extension(isa).__file__


def test_a_build_that_was_killed_is_made_anew(monkeypatch, tmp_path):
    """A killed build leaves torch's lock file, for which the next build would wait for ever."""
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    built = []

    def load(name, sources, **settings):
        assert not list(tmp_path.rglob("lock"))
        built.append(name)

    monkeypatch.setattr("torch.utils.cpp_extension.load", load)
    monkeypatch.setattr(module, "_import", lambda folder: folder.name)
    (tmp_path / module.extension.__wrapped__("avx2") / module.BUILT).unlink()
    next(tmp_path.iterdir()).joinpath("lock").touch()
    again = module.extension.__wrapped__("avx2")
    assert built == [again, again]
    assert module.extension.__wrapped__("avx2") == again and len(built) == 2


def test_builds_of_other_sources_go_when_they_were_not_used_for_a_month(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    monkeypatch.setattr("torch.utils.cpp_extension.load", lambda *_, **__: None)
    monkeypatch.setattr(module, "_import", lambda folder: folder.name)
    days = {"weebill_runtime_vnni_old": 31, "weebill_runtime_vnni_new": 29, "somebody_else": 99}
    for name, age in days.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / module.BUILT).touch()
        then = time.time() - age * 24 * 3600
        os.utime(tmp_path / name / module.BUILT, (then, then))
    built = module.extension.__wrapped__("avx2")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {built, "weebill_runtime_vnni_new", "somebody_else"}
    os.utime(tmp_path / built / module.BUILT, (0, 0))
    module.extension.__wrapped__("avx2")
    assert time.time() - (tmp_path / built / module.BUILT).stat().st_mtime < 60, "its last use"


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"name a folder .* in TORCH_EXTENSIONS_DIR"):
        module.extension.__wrapped__("avx2")


def test_a_user_without_a_home_is_told_to_name_a_folder(monkeypatch, caplog, tmp_path):
    """Containers run as a user with a number but no name."""
    for name in ("HOME", "TORCH_EXTENSIONS_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # KeyError: no such user
    with pytest.raises(InputError, match=r"name a folder .* in TORCH_EXTENSIONS_DIR"):
        module.extension.__wrapped__("avx2")
    monkeypatch.setattr(module, "available", lambda: ["avx2"])
    monkeypatch.setattr(module, "compiler", lambda: "/usr/bin/c++")
    assert module.fastest() == "portable"
    assert "no home folder); name a folder" in caplog.text
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    assert module.fastest() == "avx2"


def test_a_build_that_cannot_be_loaded_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    monkeypatch.setattr("torch.utils.cpp_extension.load", lambda *_, **__: None)
    build = module._plan("avx2")
    build.folder.mkdir()
    (build.folder / f"{build.folder.name}.so").write_bytes(b"half of it")
    with pytest.raises(
        InputError, match=rf"{build.folder.name}: .* cannot be loaded .* remove this folder"
    ):
        module.extension.__wrapped__("avx2")


def test_sources_and_flags_name_the_build(tmp_path, monkeypatch):
    one, other = tmp_path / "a.cpp", tmp_path / "b.cpp"
    one.write_text("1")
    other.write_text("2")
    names = {
        module._digest([one], []),
        module._digest([one], ["-O3"]),
        module._digest([other], []),
        module._digest([one, other], []),
    }
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: "cpython-399")
    names.add(module._digest([one], []))
    assert len(names) == 5


def test_a_width_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="multiple of 16, this student's is 24"):
        Runtime([network(width=24)], "avx2")


def test_the_portable_path_serves_where_the_extension_cannot(monkeypatch, caplog, tmp_path):
    monkeypatch.setattr(module, "available", lambda: [])
    assert text.best_isa([network()]) == "portable"
    assert "none of its instruction sets" in caplog.text
    monkeypatch.setattr(module, "available", lambda: ["vnni", "avx2"])
    assert text.best_isa([network()]) == "vnni"
    assert text.best_isa([network(width=24)]) == "portable"
    mixed = quantized(network(), "int8", skip=["encoder.1.*"])
    assert text.best_isa([mixed]) == "portable"
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    assert text.best_isa([network()]) == "portable"
    assert "no C++ compiler" in caplog.text
    folder = module._plan("vnni").folder  # as if another machine had compiled it
    folder.mkdir()
    (folder / f"{folder.name}.so").write_bytes(b"library")
    digest = subprocess.run(["sha256sum"], input=b"library", capture_output=True).stdout.split()[0]
    (folder / module.BUILT).write_bytes(b"7 " + digest + b"\n")
    assert text.best_isa([network()]) == "vnni"


def test_an_instruction_set_that_the_processor_lacks_is_refused(monkeypatch, tmp_path):
    folder = make_folder(tmp_path / "model", make_vocabulary(tmp_path / "vocab.spm"))
    monkeypatch.setattr(module, "available", lambda: ["avx2"])
    with pytest.raises(InputError, match="'vnni': this machine lacks it; it has avx2, portable"):
        text.load_runtime(folder, "vnni")


LIBRARY = bytes(range(256)) * 4000
DAMAGES = {
    "cut to half": lambda library, built: os.truncate(library, len(LIBRARY) // 2),
    "cut to nothing": lambda library, built: os.truncate(library, 0),
    "a flipped byte": lambda library, built: library.write_bytes(
        LIBRARY[:-9] + b"?" + LIBRARY[-8:]
    ),
    "zeros at the end": lambda library, built: library.write_bytes(LIBRARY[:-4096] + bytes(4096)),
    "missing": lambda library, built: library.unlink(),
    "a folder": lambda library, built: (library.unlink(), library.mkdir()),
    "an old marker": lambda library, built: built.write_text(""),
    "a damaged marker": lambda library, built: built.write_bytes(b"\xff" * 80),
    "no marker": lambda library, built: built.unlink(),
}


@pytest.fixture
def builds(monkeypatch, tmp_path):
    """Build with a compiler that keeps a finished library, as ninja does; return the library loaded then."""
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    made, loads = [], []

    def load(name, sources, build_directory, **settings):
        library = Path(build_directory, f"{name}.so")
        if not library.exists():
            library.write_bytes(LIBRARY)
        made.append(library)

    monkeypatch.setattr("torch.utils.cpp_extension.load", load)
    monkeypatch.setattr(
        module,
        "_import",
        lambda folder: loads.append((folder / f"{folder.name}.so").read_bytes()),
    )
    return made, loads


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_build_is_made_anew(builds, damage):
    made, loads = builds
    for _ in range(2):
        module.extension.__wrapped__("avx2")
    assert len(made) == 1
    DAMAGES[damage](made[0], made[0].with_name(module.BUILT))
    for _ in range(2):
        module.extension.__wrapped__("avx2")
    assert len(made) == 2 and loads == [LIBRARY] * 4


def test_a_build_is_on_the_disk_before_it_is_called_built(builds, monkeypatch):
    synced, fsync = set(), os.fsync

    def watched(descriptor):
        fsync(descriptor)
        path = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115
        if not (builds[0][0].parent / module.BUILT).exists():
            synced.add(path)

    monkeypatch.setattr(os, "fsync", watched)
    module.extension.__wrapped__("avx2")
    assert {str(builds[0][0]), str(builds[0][0].parent)} <= synced


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(
            "Error building extension 'weebill': [1/3] c++ -MMD -o bindings.o\n"
            "fatal error: error writing to /tmp/ccQ1.s: No space left on device\ncompilation terminated."
        ),
        OSError(errno.ENOSPC, "No space left on device", "build.ninja"),
        OSError(errno.EDQUOT, "Disk quota exceeded", "build.ninja"),
    ],
)
def test_a_full_disk_is_named(builds, monkeypatch, tmp_path, error):
    def load(*_, **__):
        raise error

    monkeypatch.setattr("torch.utils.cpp_extension.load", load)
    monkeypatch.setenv("TMPDIR", "/proc")
    with pytest.raises(InputError) as found:
        module.extension.__wrapped__("avx2")
    line = str(found.value)
    assert line.startswith(
        f"{tmp_path}: the runtime did not compile for avx2, the disk is full (free:"
    )
    assert "/proc 0.0 MiB)" in line and line.endswith("in TORCH_EXTENSIONS_DIR and TMPDIR")
    assert "above" not in line and "\n" not in line and "GCC" not in line


def test_the_messages_of_a_compiler_are_shown(builds, monkeypatch, caplog):
    def load(*_, **__):
        raise RuntimeError(
            "Error building extension 'a'\nlayers.cpp:7: error: no type named 'span'"
        )

    monkeypatch.setattr("torch.utils.cpp_extension.load", load)
    with pytest.raises(
        InputError, match=r"'a'; the compiler's messages are above\); it needs GCC 11"
    ):
        module.extension.__wrapped__("avx2")
    assert "layers.cpp:7: error: no type named 'span'" in caplog.text
