"""What the rules of a translation experiment measure, read from the rules: nothing is run."""

import copy
import json
import re
import subprocess
import sys

import pytest
import yaml

from tests.workflow.running import REPOSITORY, TINY, environment
from weebill.configuration.zoo_file import load_zoo

READ = """
import json, sys
from pathlib import Path
import weebill.workflow.code_version
weebill.workflow.code_version.code_version = lambda *parts: " ".join([*parts, ""])  # which code, not its hash
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, ResourceSettings

snakefile, config, folder = map(Path, sys.argv[1:])
with SnakemakeApi(OutputSettings()) as api:
    workflow = api.workflow(
        ResourceSettings(cores=1),
        config_settings=ConfigSettings(configfiles=[config]),
        snakefile=snakefile,
        workdir=folder,
    )._workflow
    gpu, mbr = map(workflow.get_rule, ("measure_gpu_speed", "choose_by_mbr"))
    engines, *scored = map(workflow.get_rule, ("benchmark_runtime", "measure_quality", "measure_comet"))
    found = {
        "gpu": gpu.params.students,
        "gpu_shortlists": [str(file) for file in gpu.input.shortlists],
        "listed": ["/".join(variant) for variant in workflow.globals["SHORTLISTED"]],
        "shapes": engines.params.shapes,
        "code": {rule.name: rule.params.code.split() for rule in (engines, *scored)},
        "teacher": next(iter(workflow.globals["MEASURED"].values())),
        "mbr": mbr.params.search,
    }
print(json.dumps(found))
"""


def rules(folder, config):
    """What the rules have in an experiment of this configuration."""
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    arguments = [REPOSITORY / "Snakefile", folder / "config.yaml", folder]
    command = [sys.executable, "-c", READ, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def experiment():
    """All precisions of a student, a GPU, and the benchmark of two shapes."""
    config = yaml.safe_load(TINY.read_text())
    config["quantization"]["int8_rowwise"] = {}
    config["variants"] = ["demo.micro/*/*"]
    config["evaluation"]["engines"] = {"architectures": ["tiny", "demo.micro"]}
    config["evaluation"]["comet"] = {"model": "Unbabel/wmt20-comet-da"}
    config["distillation"] |= {"length_normalisation": 0.6, "max_source_tokens": 90}
    config["hardware"]["accelerator"] = "gpu"
    return config


@pytest.fixture(scope="module")
def read(experiment, tmp_path_factory):
    return rules(tmp_path_factory.mktemp("experiment"), experiment)


def test_the_gpu_times_every_student_with_its_shortlist(read):
    """In float32 and float16 too, as all rows of WNGT20's table 4 but one are."""
    file = "results/tiny/shortlist/300/shortlist.safetensors"
    names = [name for name, _, _ in read["gpu"]]
    assert {"demo.micro/unpruned/float32", "demo.micro/steady-i2/log4"} <= {*names}
    for name, folder, shortlist in read["gpu"]:
        assert (folder, shortlist) == (f"results/tiny/models/{name}", file)
    assert read["gpu_shortlists"] == [file]


def test_8_bit_students_of_every_grid_are_measured_with_their_shortlist(read):
    precisions = {name.rpartition("/")[2] for name in read["listed"]}
    assert precisions == {"int8", "int8-finetuned", "int8-mean-of-scales", "int8_rowwise"}


def test_the_benchmark_of_the_runtime_is_of_its_shapes(read):
    zoo = load_zoo()
    assert read["shapes"] == {name: zoo[name] for name in ("tiny", "demo.micro")}


def test_the_benchmark_of_the_runtime_follows_the_code_that_it_imports(read):
    """But for what checks and tells; the papers' tables say which pruned shapes there are."""
    folder = REPOSITORY / "weebill/benchmarks/runtime"
    text = "\n".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    modules = {*re.findall(r"^from weebill\.(\S+) import", text, re.MULTILINE)}
    assert "report.papers" in modules
    unmeasured = {"arguments", "configuration", "experiment.zoo", "errors"}
    unmeasured.add("evaluation.measurement")
    for module in modules.difference(unmeasured):
        code = read["code"]["benchmark_runtime"]
        assert any(f"{module}.".startswith(f"{part}.") for part in code), module


def test_scores_follow_the_code_that_resamples_reads_and_describes(read):
    common = {"bleu", "corpus.table", "evaluation.measurement", "evaluation.quality.significance"}
    for rule in ("measure_quality", "measure_comet"):
        assert common <= {*read["code"][rule]}


def test_the_teacher_searches_alike_by_beam_and_by_minimum_risk(read):
    shared = {"length_normalisation": 0.6, "max_source_tokens": 90}
    assert read["mbr"] == shared
    assert read["teacher"].items() >= shared.items()


def test_without_8_bit_students_those_as_trained_are_measured_with_it(experiment, tmp_path):
    """And without a shortlist none is; the GPU times what there is."""
    config = copy.deepcopy(experiment)
    config["quantization"] = {"log4": {}}
    config["exports"] = {}
    assert rules(tmp_path, config)["listed"] == ["demo.micro/unpruned/float32"]
    del config["shortlist"]
    found = rules(tmp_path, config)
    assert not found["listed"] and not found["gpu_shortlists"]
    assert found["gpu"] and all(shortlist is None for *_, shortlist in found["gpu"])
