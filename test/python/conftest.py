"""Tests marked `mlir` run programs: a build without MLIR (OCTAVO_MLIR=OFF in the environment, which
ctest sets) deselects them, and pytest's last line counts them. A kernel that several of them need is
compiled once: they share a cache of kernels that begins empty."""

import os
import signal
import tempfile


def pytest_configure(config):
    # A shell has what it runs in the background ignore Ctrl-C, which tests of interrupted runs would wait for.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "mlir: needs a build of octavo with MLIR")
    if not hasattr(config, "workerinput"):  # xdist's workers have it from here
        folder = tempfile.TemporaryDirectory(prefix="octavo-kernels-")
        config.add_cleanup(folder.cleanup)
        os.environ["OCTAVO_CACHE_DIR"] = folder.name


def pytest_collection_modifyitems(config, items):
    if os.environ.get("OCTAVO_MLIR", "ON") != "OFF":
        return
    programs = [item for item in items if item.get_closest_marker("mlir")]
    config.hook.pytest_deselected(items=programs)
    items[:] = [item for item in items if item not in programs]
