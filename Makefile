# Commands for newcomers.  Every target first makes .venv from envs/main.txt if it is missing or old.

SHELL := /bin/bash
CORES ?= all
CONFIG ?= config/demo.yaml
MINUTES ?= 10
PYTHON ?= python3
export PYTHON
TABLE ?= gpu.json

VENV := .venv
ifneq ($(words $(VENV)),1)
  $(error VENV: found '$(VENV)', expected one path without blanks, for the environment)
endif
BIN := $(VENV)/bin
PINNED := $(VENV)/.installed
# The engine is compiled for the instruction sets of this processor.
READY := $(VENV)/.runtime$(shell grep -soEw 'avx2|avx_vnni|avx512_vnni|amx_int8' /proc/cpuinfo | sort -u | sed 's/^/-/' | tr -d '\n')
RUN := "$(BIN)/python" -m weebill run

.DEFAULT_GOAL := help
.PHONY: help setup runtime demo run rehearse rehearse-all stale tensorboard test test-workflows test-slurm test-gpu docs carry wheels test-wheel program test-arm lint lock reference conda engines opponents sanitize fuzz check-resume

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## the environment .venv with pinned versions; VENV=PATH makes it elsewhere

$(PINNED): envs/main.txt envs/install.sh
	envs/install.sh main "$(VENV)"
	@touch "$@"

runtime: $(READY)  ## compile the engine if its sources have changed; all other targets do so too

$(READY): $(PINNED) $(wildcard runtime/*.t* runtime/engine/* runtime/weebill_runtime/*.py)
	envs/install.sh runtime "$(VENV)"
	@touch "$@"

demo: $(READY)  ## the whole pipeline with small models; ends with results/demo/report.html
	@$(RUN) config/demo.yaml --cores "$(CORES)"

run: $(READY)  ## another experiment: make run CONFIG=config/multi30k.yaml CORES=8
	@$(RUN) "$(CONFIG)" --cores "$(CORES)"

rehearse: $(READY)  ## a miniature of an experiment with all its rules: make rehearse CONFIG=config/wngt20.yaml
	"$(BIN)/python" -m weebill rehearse "$(CONFIG)" --cores "$(CORES)"

rehearse-all: $(READY)  ## miniatures of the papers' five experiments (20 minutes each on two cores), and their page
	for name in comet textgen cometinho wngt20 wmt21; do \
	  "$(BIN)/python" -m weebill rehearse "config/$$name.yaml" --cores "$(CORES)" || exit 1; done
	"$(BIN)/python" -m weebill.rehearsal.record results/rehearsal-*/rehearsal.json

stale: $(READY)  ## tell which pages and records of docs/results are older than the code that made them
	"$(BIN)/python" -m weebill publish --stale

tensorboard: $(READY)  ## curves of all trainings below results/, in a browser
	"$(BIN)/tensorboard" --logdir results

test: $(READY)  ## all tests except those of the next two targets and of Arm; MARK=… chooses others (pytest's -m)
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= "$(BIN)/pytest" $(if $(MARK),-m "$(MARK)") -n $$(( $$(nproc) + 1 )) --dist loadfile --no-loadscope-reorder

test-workflows: $(READY)  ## dry runs of all experiments, small runs of stages and rare options, long tests (minutes)
	OMP_NUM_THREADS=1 "$(BIN)/pytest" -m workflows -n logical --dist loadfile

test-slurm: $(READY)  ## part of the demo on a real Slurm on this machine (some minutes)
	OMP_NUM_THREADS=1 "$(BIN)/pytest" -m slurm -rs tests/workflow/test_slurm.py tests/translation

test-gpu:  ## all that needs a GPU, in eight minutes, with the packages of PYTHON; TABLE=FILE.json keeps all results
	"$(PYTHON)" -m tests.gpu --json "$(TABLE)" $(OPTIONS)

carry: wheels  ## wheels in .whl/ that test-gpu needs in addition to a machine's own PyTorch, for Python 3.12
	"$(BIN)/python" envs/carry.py

lint: $(READY)  ## check the style of Python and workflow, and the imports between layers
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/lint-imports" --no-cache
	"$(BIN)/snakefmt" --check Snakefile rules
	"$(BIN)/snakemake" --lint

docs: $(READY)  ## the site of all pages, readable from disk: build/site/index.html
	"$(BIN)/python" -m docs.site.assemble build/site-pages
	"$(BIN)/sphinx-build" --fail-on-warning --keep-going --quiet --conf-dir docs/site build/site-pages build/site
	"$(BIN)/python" -m docs.site.built build/site
	@echo "the site is in build/site/index.html"

reference: $(READY)  ## write the tables of config/*.md and config/schema from the settings classes
	"$(BIN)/python" -m weebill.configuration.reference

conda: $(READY)  ## write envs/*.yaml, for `snakemake --sdm conda`, from the locks envs/*.txt
	"$(BIN)/python" envs/conda.py

lock:  ## pin versions in envs/main.txt with uv; UPGRADE=--upgrade takes the newest, TORCH=2.13.0 another PyTorch
	envs/lock.sh $(UPGRADE)

wheels: $(READY)  ## wheels of the package and its engine for other machines, in dist/
	"$(BIN)/python" envs/wheels.py

test-wheel: wheels  ## test the wheels with each installed Python from 3.11 to 3.13; EXTRAS="metric all" adds extras
	"$(BIN)/python" -m tests.package.matrix $(EXTRAS)

program: $(READY)  ## build weebill-translate and libweebill, which need no Python, in dist/program (three minutes)
	envs/program.sh "$(VENV)"

test-arm: $(READY)  ## test the engines for Arm, cross-compiled and emulated; names what is not installed
	envs/program.sh "$(VENV)" aarch64
	OMP_NUM_THREADS=1 "$(BIN)/pytest" -m arm -rs tests/weebill_runtime

engines:  ## install Marian for browsers from npm, for the tests of exports that need it
	npm install --no-save --no-package-lock @browsermt/bergamot-translator@0.4.9

opponents:  ## install other engines, for `weebill benchmark runtime` and `generation`; bergamot needs Python 3.7 to 3.10
	-for name in bergamot pymarian fxtranslate onnxruntime openvino; do envs/install.sh $$name .venvs/$$name; done

sanitize: $(READY)  ## tests of the compiled code with AddressSanitizer (ten minutes)
	"$(BIN)/cmake" -S runtime -B build/sanitize -DCMAKE_BUILD_TYPE=Release -DWEEBILL_SANITIZE=address -DWEEBILL_SETS=here \
	-DPython_EXECUTABLE="$(abspath $(BIN)/python)" -Dnanobind_DIR="$$("$(BIN)/python" -m nanobind --cmake_dir)" \
	-G Ninja -DCMAKE_MAKE_PROGRAM="$(abspath $(BIN)/ninja)"
	"$(BIN)/cmake" --build build/sanitize
	"$(BIN)/cmake" --install build/sanitize --prefix build/sanitized
	cp runtime/weebill_runtime/*.py build/sanitized/weebill_runtime
	PYTHONPATH=build/sanitized ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1 \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so.6)" \
	"$(BIN)/pytest" -s --ignore tests/weebill_runtime/test_program.py tests/weebill_runtime tests/runtime/test_translation.py tests/kernels/test_int8_layers.py \
	tests/kernels/test_split_linear.py tests/commands/test_translate.py

fuzz: $(READY)  ## damage files at random and read them: make fuzz MINUTES=10; findings are in fuzz-findings/
	OMP_NUM_THREADS=1 "$(BIN)/python" -m tests.fuzz --minutes $(MINUTES)

check-resume: $(READY)  ## interrupt the demo five times, and compare with an undisturbed run (half an hour)
	"$(BIN)/python" tests/workflow/kill.py --config config/demo.yaml --kills 5 --new --longest 60
