"""Round a student's weights to a grid without further training.

Read a float32 model and, if activations are also quantized, its calibration. Write a model folder with packed
weights.
"""

from weebill.workflow.job import job

from weebill.model_lineage import versions
from weebill.quantization.calibration import activation_scales, load_ranges
from weebill.quantization.files import section
from weebill.quantization.modules import quantize_model, round_biases
from weebill.translation.model.folder import load_model, model_hash
from weebill.translation.model.packed_folder import save_any_model

with job(snakemake.log[0]):
    grid, formula = snakemake.params.grid, snakemake.params.activation_scale
    model = load_model(snakemake.input.model)
    scales = activation_scales(load_ranges(snakemake.input[0]), formula) if formula else None
    quantize_model(model.network, grid, scales)
    if snakemake.params.biases:
        round_biases(model.network, grid)
    save_any_model(
        snakemake.output[0],
        model.network,
        model.vocabulary,
        {"kind": grid, "parent": model_hash(snakemake.input.model), "versions": versions()},
        section(grid, formula),
    )
