"""Model folders of any precision; `weebill.quantization` writes and reads weights packed on a grid.

Trainings use only `folder`, which knows float32, so that they do not depend on the grids' code.
"""

from functools import partial

from weebill.quantization import files
from weebill.translation.model.folder import load_model, save_model

save_any_model = partial(save_model, packing=files)
load_any_model = partial(load_model, packing=files)
