"""ONNX Runtime and OpenVINO as in Hugging Face's optimum, in int8, each in its own environment."""

import time
from pathlib import Path
from types import MappingProxyType

from torch import Tensor

from weebill.benchmarks.generation_opponents import read_config
from weebill.benchmarks.opponent import Opponent
from weebill.kernels.extension import available

ONNX_RUNTIME, OPENVINO = "onnxruntime", "openvino"  # environments
NAMES = MappingProxyType({ONNX_RUNTIME: "ONNX Runtime", OPENVINO: "OpenVINO"})
PYTHONS = MappingProxyType({name: Path(f".venvs/{name}/bin/python") for name in NAMES})
# Each program reads the folder of a model, and writes its own files to another folder.
START = """
import shutil, torch
from pathlib import Path
torch.set_num_threads(1)
source, kept = map(Path, arguments)
pairs = json.loads((source / "config.json").read_text()).get("is_encoder_decoder", False)
"""
ONNX_RUNTIME_BODY = """
import onnxruntime
from optimum.onnxruntime import ORTModelForCausalLM, ORTModelForSeq2SeqLM, ORTQuantizer
from optimum.onnxruntime.configuration import AutoQuantizationConfig
kind = ORTModelForSeq2SeqLM if pairs else ORTModelForCausalLM

def convert():
    whole = kept / "whole"
    kind.from_pretrained(source, export=True).save_pretrained(whole)
    how = {"is_static": False, "per_channel": True}
    # Without instructions for products of 8 bits, sums of two products would overflow.
    choose = AutoQuantizationConfig
    way = choose.avx512_vnni(**how) if wide else choose.avx2(reduce_range=True, **how)
    for file in whole.glob("*.onnx"):
        quantizer = ORTQuantizer.from_pretrained(whole, file_name=file.name)
        quantizer.quantize(save_dir=kept / "int8", quantization_config=way)
        (kept / "int8" / f"{file.stem}_quantized.onnx").rename(kept / "int8" / file.name)
    for file in whole.glob("*.json"):
        shutil.copy(file, kept / "int8")

if not kept.exists():
    convert()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
model = kind.from_pretrained(kept / "int8", session_options=options)
"""
OPENVINO_BODY = """
from optimum.intel import OVModelForCausalLM, OVModelForSeq2SeqLM
kind = OVModelForSeq2SeqLM if pairs else OVModelForCausalLM
one = {"INFERENCE_NUM_THREADS": "1", "NUM_STREAMS": "1", "PERFORMANCE_HINT": "LATENCY", "CACHE_DIR": ""}
if not kept.exists():
    kind.from_pretrained(source, export=True, load_in_8bit=True, compile=False).save_pretrained(kept)
model = kind.from_pretrained(kept, ov_config=one)
"""
END = """
def work(task):
    ids, mask, new = task
    texts = {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}
    lengths = {"min_new_tokens": new, "max_new_tokens": new}
    found = model.generate(**texts, do_sample=False, num_beams=1, pad_token_id=0, **lengths)
    return found[:, -new:].tolist()
"""
BODIES = {ONNX_RUNTIME: ONNX_RUNTIME_BODY, OPENVINO: OPENVINO_BODY}


class LibraryEngine:
    """Model in a process of another environment, on one core.

    Its weights are int8 with a scale for each output.  ONNX Runtime also quantizes activations, per tensor; OpenVINO
    does so if its plug-in for this processor does.
    """

    def __init__(self, name: str, python: Path, folder: Path):
        """Convert and load `folder/float32`.  Raises InputError if this Python cannot."""
        source = folder / "float32"
        self.config = read_config(source / "config.json")
        answers = folder / f"answers of {name}"
        answers.mkdir(exist_ok=True)
        wide = not {"vnni", "avxvnni"}.isdisjoint(available())
        program = f"{START}wide = {wide}\n{BODIES[name]}{END}"
        names = {"option": f"--{name}", "environment": name}
        self._process = Opponent(python, program, source, folder / name, folder=answers, **names)

    def write(self, ids: Tensor, mask: Tensor, new: int) -> list[list[int]]:
        """Return `new` tokens for each text (n, length)."""
        return self._process.work([ids.tolist(), mask.tolist(), new])

    def clock(self) -> float:
        """Return the processor time of this process and the library's process."""
        return time.process_time() + self._process.seconds()
