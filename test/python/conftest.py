"""Tests marked `mlir` run programs: a build without MLIR (OCTAVO_MLIR=OFF in the environment, which
ctest sets) deselects them, and pytest's last line counts them."""

import os


def pytest_configure(config):
    config.addinivalue_line("markers", "mlir: needs a build of octavo with MLIR")


def pytest_collection_modifyitems(config, items):
    if os.environ.get("OCTAVO_MLIR", "ON") != "OFF":
        return
    programs = [item for item in items if item.get_closest_marker("mlir")]
    config.hook.pytest_deselected(items=programs)
    items[:] = [item for item in items if item not in programs]
