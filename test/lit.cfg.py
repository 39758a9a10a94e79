"""lit: every .mlir file under test/ with a RUN line."""
import os

import lit.formats

config.name = "octavo"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "fuzz", "jax", "python"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.octavo_test_build
config.environment["PATH"] = os.pathsep.join(
    [config.octavo_bin, config.llvm_tools, config.environment["PATH"]])
config.environment["OCTAVO_CACHE_DIR"] = ""  # each test compiles
