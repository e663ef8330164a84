"""Fine-tune a student under fake quantization, then round its weights to the grid (WNGT20 §5, WMT21 §3.4).

Read a float32 model, its distilled corpus and, if activations are also quantized, its calibration. Write a model
folder with packed weights. A killed training resumes where it stopped.
"""

from weebill.workflow.job import job

from pathlib import Path

from weebill.files import remove_folder
from weebill.model_lineage import lineage
from weebill.quantization.calibration import activation_scales, load_ranges
from weebill.quantization.files import section
from weebill.quantization.modules import fake_quantization, pack_model
from weebill.translation.model.folder import load_model, model_hash
from weebill.translation.model.packed_folder import save_any_model
from weebill.translation.training.trainer import Hardware, TrainingConfig, train

with job(snakemake.log[0]):
    grid, formula = snakemake.wildcards.grid, snakemake.params.activation_scale
    work = Path(f"{snakemake.output[0]}.work")
    config = TrainingConfig(**snakemake.params.training)
    model = load_model(snakemake.input.model, config.dropout)
    scales = activation_scales(load_ranges(snakemake.input[0]), formula) if formula else None
    training = train(
        model.network,
        [Path(corpus) for corpus in snakemake.input.corpora],
        Path(snakemake.input.validation),
        model.vocabulary,
        config,
        seed=snakemake.params.seed,
        work=work,
        hardware=Hardware(**snakemake.params.hardware),
        transform=fake_quantization(grid, scales),
        tensorboard=Path(snakemake.params.tensorboard),
        encoded=snakemake.params.encoded,
    )
    save_any_model(
        snakemake.output[0],
        pack_model(model.network),
        model.vocabulary,
        lineage(
            f"{grid}-finetuned",
            config,
            snakemake.params.seed,
            training,
            parent=model_hash(snakemake.input.model),
        ),
        section(grid, formula),
    )
    remove_folder(work)
