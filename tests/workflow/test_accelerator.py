"""If an experiment's GPU is missing, one line names the key and the remedy before any job starts."""

import pytest
import torch
import yaml

from tests.workflow.running import REPOSITORY, TINY, snakemake


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.parametrize("kind", ["translation", "metric-small", "generation-small"])
def test_an_experiment_stops_before_its_first_job_and_a_dry_run_does_not(tmp_path, kind):
    file = TINY if kind == "translation" else REPOSITORY / f"config/{kind}.yaml"
    config = yaml.safe_load(file.read_text())
    config["hardware"]["accelerator"] = "gpu"
    (tmp_path / "gpu.yaml").write_text(yaml.safe_dump(config))
    run = snakemake(tmp_path, tmp_path / "gpu.yaml", "--cores", "1")
    [line] = [one for one in run.stdout.splitlines() if "GPU" in one and "CPU" not in one]
    assert run.returncode != 0
    assert line.startswith(f"{tmp_path / 'gpu.yaml'}: hardware.accelerator: found gpu, but PyTorch")
    assert "set it to cpu" in line and "Traceback" not in run.stdout
    assert not (tmp_path / f"results/{config['experiment']}/logs").exists()
    assert snakemake(tmp_path, tmp_path / "gpu.yaml", "--cores", "1", "-n").returncode == 0
