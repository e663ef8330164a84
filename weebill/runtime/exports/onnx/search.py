"""Steps of a search with exported graphs by onnxruntime."""

from pathlib import Path

import numpy as np
import onnxruntime

from weebill.files import read_json

DESCRIPTION = "model.json"


class OnnxStudent:
    """Exported folder on one thread of a CPU."""

    def __init__(self, folder: str | Path):
        folder = Path(folder)
        self.description = read_json(folder / DESCRIPTION)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.encoder, self.decoder = (
            onnxruntime.InferenceSession(
                str(folder / f"{name}.onnx"), options, providers=["CPUExecutionProvider"]
            )
            for name in ("encoder", "decoder")
        )

    def start(self, source: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
        """Return the decoder's inputs of its first step.  source, mask: (b, s), mask True where a piece stands."""
        names = [output.name for output in self.encoder.get_outputs()]
        memory = self.encoder.run(names, {"source": source, "mask": mask}) if names else []
        inputs = {"mask": mask, **dict(zip(names, memory, strict=True))}
        for end in self.decoder.get_inputs():
            if end.name in self.description["states"].values():
                sizes = {"sentences": len(source), "past": 0}
                inputs[end.name] = np.zeros([sizes.get(n, n) for n in end.shape], np.float32)
        inputs["previous"] = np.full(len(source), self.description["start"], np.int64)
        inputs["position"] = np.array(0, np.int64)
        return inputs

    def step(self, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return scores (b, V) of the next pieces, and the next step's inputs except `previous`."""
        names = ["logits", *self.description["states"]]
        wanted = {end.name for end in self.decoder.get_inputs()}
        given = {name: value for name, value in inputs.items() if name in wanted}
        logits, *states = self.decoder.run(names, given)
        changed = dict(zip(self.description["states"].values(), states, strict=True))
        position = np.asarray(inputs["position"] + 1)
        return logits, {**inputs, **changed, "position": position}
