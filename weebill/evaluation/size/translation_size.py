"""Exact sizes of a model: bytes on disk, compressed bytes, parameters and shape."""

import lzma
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from weebill.evaluation.measurement import Variant, model_sha256, stored_numbers
from weebill.files import MIB, parameter_files, read_json
from weebill_runtime.architecture import Architecture

XZ_PRESET = 6  # the default of `xz`
_VOCABULARY = ("vocab.spm", "*.spm", "tokenizer*.json", "vocab*.json")


@dataclass(frozen=True)
class Size:
    """Disk space of a variant.  The vocabulary is counted separately, as in WNGT20 table 3."""

    variant: str
    student: str
    recipe: str
    precision: str
    members: int  # models of an ensemble; all of them are counted below
    parameters: int
    parameter_bytes: int  # of *.safetensors
    xz_bytes: int  # of the same files, compressed by xz
    xz_preset: int
    vocabulary_bytes: int
    files: dict[str, int]  # every file of the folder, "member-0/…" for an ensemble
    architecture: dict | None  # of the first member; None for a model that is not ours
    model_sha256: str

    @property
    def mib(self) -> float:
        """MiB of the parameters on disk."""
        return self.parameter_bytes / MIB

    @property
    def xz_mib(self) -> float:
        """MiB of the same files, compressed by xz."""
        return self.xz_bytes / MIB


def measure_size(variant: Variant, folders: Sequence[str | Path]) -> Size:
    """Measure the size of a model, or of an ensemble together.  Raises InputError if a folder holds no parameters."""
    folders = [Path(folder) for folder in folders]
    parameters = [file for folder in folders for file in parameter_files(folder)]
    names = [f"{folder.name}/" if len(folders) > 1 else "" for folder in folders]
    vocabularies = [{f for one in _VOCABULARY for f in folder.glob(one)} for folder in folders]
    architecture = read_json(folders[0] / "config.json").get("architecture")  # Weebill's models'
    return Size(
        variant=str(variant),
        **asdict(variant),
        members=len(folders),
        parameters=sum(map(count_parameters, folders)),
        parameter_bytes=sum(map(_bytes, parameters)),
        xz_bytes=sum(map(xz_size, parameters)),
        xz_preset=XZ_PRESET,
        vocabulary_bytes=sum(_bytes(file) for files in vocabularies for file in files),
        files={
            f"{name}{file.relative_to(folder)}": _bytes(file)
            for name, folder in zip(names, folders, strict=True)
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        },
        architecture=Architecture.from_dict(architecture).to_dict() if architecture else None,
        model_sha256=model_sha256(folders),
    )


def xz_size(path: str | Path) -> int:
    """Return the bytes of a file compressed by xz (one stream, preset 6); the file is read in blocks."""
    compressor = lzma.LZMACompressor(preset=XZ_PRESET)
    size = 0
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            size += len(compressor.compress(block))
    return size + len(compressor.flush())


def count_parameters(folder: str | Path) -> int:
    """Count the parameters of a model folder's network, whatever precision they are stored in.

    Weebill's config.json gives the count (tied weights once), because a packed file holds fewer numbers.
    """
    stated = read_json(Path(folder) / "config.json").get("parameters")
    return sum(stored_numbers(folder).values()) if stated is None else stated


def encoder_parameters(architecture: dict) -> int:
    """Count the parameters of an encoder's layers, without the embeddings, which the decoder shares."""
    d = architecture["embedding"]
    total = 0
    for layer in architecture["encoder"]:
        a, f = layer["heads"] * layer["head_size"], layer["feed_forward"]
        total += (4 * d * a + 3 * a + d) + (2 * d * f + f + d) + 4 * d  # attention, maps, two norms
    return total


def encoder_sparsity(size: Size, baseline: Size) -> tuple[float, float]:
    """Return the shares (0 to 1) of the baseline's encoder attention and feed-forward widths that were removed."""

    def share(width: Callable[[dict[str, int]], int]) -> float:
        left, whole = (sum(map(width, one.architecture["encoder"])) for one in (size, baseline))
        return 1 - left / whole

    attention = share(lambda layer: layer["heads"] * layer["head_size"])
    return attention, share(lambda layer: layer["feed_forward"])


def _bytes(path: Path) -> int:
    return path.stat().st_size
