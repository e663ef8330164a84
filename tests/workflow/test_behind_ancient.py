"""A job whose parameter has changed runs, even if it reads a running job's output as `ancient`."""

from tests.workflow.running import run_snakemake

SNAKEFILE = """
from weebill.workflow.behind_ancient import look_behind_ancient
look_behind_ancient()
rule c:
    input: "b.txt"
    output: "c.txt"
    shell: "cat {input} > {output}"
rule a:
    output: "a.txt"
    params: config["of_a"]
    shell: "echo {params} > {output}"
rule b:
    input: ancient("a.txt")
    output: "b.txt"
    params: config["of_b"]
    shell: "echo {params} $(cat {input}) > {output}"
"""


def test_changes_at_once(tmp_path, monkeypatch):
    """Without a change of its own, the job keeps its output."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    for a, b, made in [(1, 1, "1 1"), (2, 2, "2 2"), (3, 2, "2 2"), (3, 3, "3 3")]:
        run = run_snakemake("--cores", "1", "--config", f"of_a={a}", f"of_b={b}")
        assert run.returncode == 0, run.stdout
        assert (tmp_path / "c.txt").read_text() == f"{made}\n"
        assert (tmp_path / "a.txt").read_text() == f"{a}\n"
