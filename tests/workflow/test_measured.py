"""Measurements of a translation experiment, read from its rules; no job runs."""

import copy

import pytest
import yaml

from tests.workflow.running import TINY, read_workflow
from weebill.configuration.zoo_file import load_zoo


def parts(workflow):
    """Return the parameters and inputs that are tested here."""
    gpu, mbr = map(workflow.get_rule, ("measure_gpu_speed", "choose_by_mbr"))
    return {
        "gpu": gpu.params.students,
        "gpu_shortlists": [str(file) for file in gpu.input.shortlists],
        "gpu_corpus": [str(file) for file in gpu.input.corpus],
        "gpu_text": [gpu.params.test_sets, gpu.params.corpus, gpu.params.sentences],
        "listed": ["/".join(variant) for variant in workflow.globals["SHORTLISTED"]],
        "shapes": workflow.get_rule("benchmark_runtime").params.shapes,
        "teacher": next(iter(workflow.globals["MEASURED"].values())),
        "mbr": mbr.params.search,
    }


def rules(folder, config):
    """Return the `parts` of an experiment with this configuration."""
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    return read_workflow(folder, folder / "config.yaml", parts)


@pytest.fixture(scope="module")
def experiment():
    """Return a configuration with all precisions of a student, a GPU, and the benchmark of two shapes."""
    config = yaml.safe_load(TINY.read_text())
    config["quantization"]["int8_rowwise"] = {}
    config["variants"] = ["demo.micro/*/*"]
    config["evaluation"]["engines"] = {"architectures": ["tiny", "demo.micro"]}
    config["evaluation"]["comet"] = {"model": "Unbabel/wmt20-comet-da"}
    config["distillation"] |= {"length_normalisation": 0.6, "max_source_tokens": 210}
    config["hardware"]["accelerator"] = "gpu"
    return config


@pytest.fixture(scope="module")
def read(experiment, tmp_path_factory):
    return rules(tmp_path_factory.mktemp("experiment"), experiment)


def test_the_gpu_times_every_student_with_its_shortlist(read):
    """Float32 and float16 have the shortlist too, as in all rows but one of WNGT20's table 4."""
    file = "results/tiny/shortlist/500/shortlist.safetensors"
    names = [name for name, _, _ in read["gpu"]]
    assert {"demo.micro/unpruned/float32", "demo.micro/steady-i2/log4"} <= {*names}
    for name, folder, shortlist in read["gpu"]:
        assert (folder, shortlist) == (f"results/tiny/models/{name}", file)
    assert read["gpu_shortlists"] == [file]


def test_the_gpu_times_the_test_sets_alone_by_default(experiment, tmp_path):
    found = rules(tmp_path, copy.deepcopy(experiment))
    assert found["gpu_corpus"] == []
    assert found["gpu_text"] == [["tatoeba_test"], "", None]


def test_the_gpu_times_chosen_variants_by_a_corpus_too(experiment, tmp_path):
    config = copy.deepcopy(experiment)
    config["evaluation"]["speed"] |= {
        "gpu_text": {"corpus": "english", "sentences": 5000},
        "gpu_variants": ["*/steady-i2/float32", "demo.micro/unpruned/int8"],
    }
    found = rules(tmp_path, config)
    assert [name for name, *_ in found["gpu"]] == [
        "demo.micro/unpruned/int8",
        "demo.micro/steady-i2/float32",
    ]
    assert found["gpu_corpus"] == ["results/tiny/corpora/english/cleaned"]
    assert found["gpu_text"] == [["tatoeba_test"], "english", 5000]


def test_8_bit_students_of_every_grid_are_measured_with_their_shortlist(read):
    precisions = {name.rpartition("/")[2] for name in read["listed"]}
    assert precisions == {"int8", "int8-finetuned", "int8-mean-of-scales", "int8_rowwise"}


def test_the_benchmark_of_the_runtime_is_of_its_shapes(read):
    zoo = load_zoo()
    assert read["shapes"] == {name: zoo[name] for name in ("tiny", "demo.micro")}


def test_the_teacher_searches_alike_by_beam_and_by_minimum_risk(read):
    shared = {"length_normalisation": 0.6, "max_source_tokens": 210}
    assert read["mbr"] == shared
    assert read["teacher"].items() >= shared.items()


def test_without_8_bit_students_those_as_trained_are_measured_with_it(experiment, tmp_path):
    """Without a shortlist in the experiment, no student has one; the GPU times the students that exist."""
    config = copy.deepcopy(experiment)
    config["quantization"] = {"log4": {}}
    config["exports"] = {}
    assert rules(tmp_path, config)["listed"] == ["demo.micro/unpruned/float32"]
    del config["shortlist"]
    found = rules(tmp_path, config)
    assert not found["listed"] and not found["gpu_shortlists"]
    assert found["gpu"] and all(shortlist is None for *_, shortlist in found["gpu"])
