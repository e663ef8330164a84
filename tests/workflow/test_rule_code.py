"""The parameter `code` of every rule is the fingerprint of exactly the code that its script reaches."""

import statistics
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.workflow.running import REPOSITORY, TINY, read_workflow
from weebill.pruning.methods import METHODS
from weebill.workflow.code_version import code_of, library_path, script_of, set_code
from weebill.workflow.import_closure import read_project

WIDEST = {"tiny": 29, "metric-small": 23}  # medians over rules; they may only shrink, to 27


def codes(workflow) -> dict[str, dict]:
    """Return script, shell words, code and chosen modules of each rule, and the same of pruning recipes."""
    found = {"rules": {}, "recipes": {}}
    for rule in workflow.rules:
        code = rule.params.get("code")
        uses = rule.params.get("uses", [])
        chosen = [] if callable(uses) else uses
        code = None if callable(code) else code
        found["rules"][rule.name] = [*script_of(rule, REPOSITORY), code, chosen]
        if rule.name == "prune":
            for name, recipe in workflow.globals["config"]["pruning"].items():
                wildcards = SimpleNamespace(recipe=name)
                code = rule.params.code(wildcards)
                found["recipes"][recipe["method"]] = [rule.params.uses(wildcards), code]
    return found


@pytest.fixture(scope="module", params=[TINY, REPOSITORY / "config/metric-small.yaml"])
def workflow(request, tmp_path_factory):
    """Return a configuration's name and the script, shell words and code of its rules."""
    folder = tmp_path_factory.mktemp("workflow")
    return request.param.stem, read_workflow(folder, request.param, codes)


@pytest.fixture(scope="module")
def project():
    return read_project(REPOSITORY)


def closure(project, script: str, *uses: str) -> set[str]:
    modules = (f"weebill.{name.removeprefix('weebill.')}" for name in uses)
    return project.closure(f"workflow_scripts/{script}", *modules)


def test_every_rule_that_runs_a_script_has_its_code(workflow):
    name, found = workflow
    without = {rule for rule, (script, *_) in found["rules"].items() if script is None}
    assert without == {"all", "environment"}
    for rule, (script, command, code, uses) in found["rules"].items():
        if script is not None and rule not in ("prune", "prune_metric"):  # depends on wildcards
            assert code == code_of(script, *uses, command=command), rule
    if name == "metric-small":
        script, command, *_ = found["rules"]["train_reference"]
        assert script == "metric/train_regression.py"
        assert command.startswith(" --log {log:q} --training {input.training:q}")


def test_closures_stay_narrow(workflow, project):
    name, found = workflow
    rules = [rule for rule in found["rules"].values() if rule[0] is not None]
    widths = [len(closure(project, script, *uses)) - 1 for script, _, _, uses in rules]
    print(name, statistics.median(widths))
    assert statistics.median(widths) <= WIDEST[name]


def test_a_recipe_uses_the_module_of_its_method_and_no_other(workflow, project):
    name, found = workflow
    if name != "tiny":
        pytest.skip("prunes no students")
    assert len(found["recipes"]) > 1
    assert len({code for _, code in found["recipes"].values()}) == len(found["recipes"])
    methods = {method: METHODS.module(method) for method in METHODS}
    for method, (uses, code) in found["recipes"].items():
        assert uses == [methods[method]]
        assert code == code_of("prune/prune.py", *uses)
        others = {*methods.values()} - project.closure(methods[method])
        assert not others & closure(project, "prune/prune.py", *uses)


@pytest.mark.parametrize(
    "module",
    [
        "errors",
        "evaluation.quality.translation_quality",
        "pruning.depth",
        "pruning.late_reset",
        "pruning.movement",
        "quantization.grids.log4",
        "workflow.job",
    ],
)
@pytest.mark.parametrize("script", ["student/train_model.py", "prune/reset_checkpoint.py"])
def test_no_edit_elsewhere_trains_a_student_again(project, script, module):
    assert f"weebill.{module}" in project.sources
    assert f"weebill.{module}" not in closure(project, script)


def test_what_a_script_runs_is_in_its_closure(project):
    """Lists kept by hand once lacked modules that are named here."""
    assert "weebill.evaluation.size.metric_size" in closure(project, "metric/measure_metric.py")
    assert "weebill.report.papers" in closure(project, "evaluate/benchmark_runtime.py")
    assert "weebill.corpus.injected_noise" in closure(project, "corpus/import_corpus.py")
    for script in ("evaluate/measure_student.py", "evaluate/measure_comet.py"):
        reached = closure(project, script)
        for module in (
            "bleu",
            "corpus.table",
            "evaluation.measurement",
            "evaluation.quality.significance",
        ):
            assert f"weebill.{module}" in reached, (script, module)


class Rule:
    """Stand-in for Snakemake's rule, in a workflow in a folder."""

    def __init__(self, folder: Path, script: str | None = None, shell: str = "", **params):
        self.script, self.shellcmd, self.params = script, shell, params
        place = SimpleNamespace(path=str(folder / (script or "")))
        self.basedir = SimpleNamespace(join=lambda _: place)

    def set_params(self, **params):
        self.params |= params


def test_rules_of_other_workflows_are_left_alone(tmp_path):
    ours = REPOSITORY / "rules/translation"
    script = "../../workflow_scripts/prune/head_map.py"
    own = Rule(ours, script, code="1")
    others = [Rule(tmp_path, "workflow_scripts/a.py"), Rule(tmp_path, shell="cp {input} {output}")]
    fixed = Rule(ours, script, uses=["pruning.depth"])
    chosen = Rule(ours, script, uses=lambda wildcards: [f"pruning.{wildcards.method}"])
    shell = (
        f"{library_path(REPOSITORY)} python '{REPOSITORY}/workflow_scripts/prune/head_map.py' -v"
    )
    shown = Rule(ours, shell=shell)
    set_code([own, *others, fixed, chosen, shown], REPOSITORY)
    assert own.params == {"code": "1"}
    assert [rule.params for rule in others] == [{}, {}]
    expected = code_of("prune/head_map.py", "pruning.depth")
    assert fixed.params["code"] == expected
    assert chosen.params["code"](SimpleNamespace(method="depth")) == expected
    assert shown.params["code"] == code_of("prune/head_map.py", command=" -v")


def test_scripts_whose_workers_import_them_do_nothing_then(project):
    """A spawned process imports the script of its job, without Snakemake's values."""
    spawning = {"weebill.worker_processes", "weebill.evaluation.timing.processes"}
    scripts = [path.relative_to(REPOSITORY) for path in REPOSITORY.glob("workflow_scripts/*/*.py")]
    spawn = [path for path in scripts if spawning & project.closure(str(path))]
    assert len(spawn) > 5
    for path in spawn:
        assert 'if __name__ == "__main__":' in (REPOSITORY / path).read_text("utf-8"), path
