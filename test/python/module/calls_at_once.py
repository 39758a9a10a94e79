"""Calls every function, method and property of octavo's extension modules while a slow call of another thread
runs, which holds what locks it holds and asks for Python's: run by test_calls_at_once.py, in a process of its own.
Prints each name before it is called. A call that does not come back ends the process with tracebacks."""
import faulthandler
import pickle
import sys
import tempfile
import threading
import time

import numpy as np

import octavo
import octavo._core as core
import octavo._loaded as loaded
import octavo._programs as programs

SECONDS = 30.0  # for one call: the slow ones that it may wait for take less than one
MODULES = {"_core": core, "_loaded": loaded, "_programs": programs}
# What every class has, from nanobind or from object.
ALIKE = {"__doc__", "__module__", "__new__", "__dict__", "__weakref__", "__init_subclass__", "__class_getitem__", "__hash__"}

INTERPRETED = """
func.func @main(%a: tensor<100x100xf32> {octavo.name = "a"}, %w: tensor<100x100xf32> {octavo.name = "w"}) -> tensor<100x100xf32> {
  %0 = chlo.lgamma %a : tensor<100x100xf32> -> tensor<100x100xf32>
  %1 = chlo.digamma %0 : tensor<100x100xf32> -> tensor<100x100xf32>
  %2 = chlo.lgamma %1 : tensor<100x100xf32> -> tensor<100x100xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  return %3 : tensor<100x100xf32>
}"""
OPEN = """
func.func @main(%a: tensor<?x100xf32> {octavo.name = "a"}) -> tensor<?x100xf32> {
  %0 = stablehlo.tanh %a : tensor<?x100xf32>
  return %0 : tensor<?x100xf32>
}"""
A = np.random.default_rng(0).random((100, 100), np.float32) + np.float32(0.5)
W = np.random.default_rng(1).standard_normal((100, 100), np.float32)
X = np.random.default_rng(2).standard_normal((8, 64), np.float32)


def given(arrays):
    return programs.Weights([], arrays, set(), False)


def compiled(text, weights, backend="compiled"):
    return programs.compile(text.encode(), False, given(weights), "main", backend, False, False, None)


def tuned(metric):
    return programs.tune(program=INTERPRETED.encode(), is_path=False, weights=given({"w": W}), function="main",
                         backend="compiled", sets=lambda arguments: [((A,), {})], budget="metric >= 0",
                         formats=["mxfp8_e4m3"], cost="bytes", metric=metric, metric_name="m", state="", match="",
                         exclude="", parameters="", min_size=0, calibration="", calibration_is_text=False, tries=None,
                         progress=None)


def jax_called():
    import jax
    import octavo.jax as oj
    x = jax.numpy.asarray(X)
    tensor = oj.quantize(x, "mxfp8_e4m3")
    other = oj.quantize(x, "mxfp8_e4m3")
    jax.block_until_ready(jax.jit(lambda t: t.dequantize())(tensor))
    jax.block_until_ready(jax.jit(lambda a, b: oj.matmul(a, b.T))(tensor, other))


class Uses:
    """An object of each class, and how each function and method is called."""

    def __init__(self, folder):
        (folder / "p.mlir").write_text(OPEN.replace("?", "100"))
        self.folder = folder
        self.interpreted = compiled(INTERPRETED, {"w": W})
        self.whole = compiled(INTERPRETED, {"w": W}, "reference")
        self.open = compiled(OPEN, {})
        self.loaded = loaded.load(str(folder / "folder").encode())
        self.calibrator = programs.Calibrator(INTERPRETED.encode(), False, given({"w": W}), "main", "compiled", "", False)
        self.calibrator.run(A)
        self.dots = programs.DotOptions("mxfp8_e4m3")
        self.tensor = core.quantize(X, "mxfp8_e4m3")
        self.checkpoint = core.Checkpoint(str(folder / "checkpoint"))
        self.packed = core.PackedWeight(core.quantize(X, "mxfp8_e4m3").T)
        fnuz = core.convert(X, "e4m3fnuz")
        scales = np.ones((8, 1), np.float32)
        self.samples = {
            "_core.Checkpoint": self.checkpoint, "_core.ElementFormat": core.ElementFormat("e4m3fn"),
            "_core.ErrorRow": core.analyze(X, "mxfp4")[0], "_core.PackedWeight": self.packed,
            "_core.ScaledFormat": core.ScaledFormat("mxfp4"), "_core.ScaledTensor": self.tensor,
            "_core.Finding": None, "_loaded.Program": self.loaded, "_programs.Calibrator": self.calibrator,
            "_programs.DotOptions": self.dots, "_programs.Program": self.interpreted, "_programs.Weights": given({})}
        findings = core.lint_checkpoint(str(folder / "damaged"), [])
        self.samples["_core.Finding"] = findings[0]
        name = next(iter(self.checkpoint))
        self.calls = {
            "_loaded.load": lambda: loaded.load(str(folder / "folder").encode()),
            "_loaded.Program.__call__": lambda: self.loaded(A),
            "_programs.Program.__call__": lambda: (self.interpreted(A), self.whole(A), self.open(A[:7])),
            "_programs.Program.explain": lambda: (self.interpreted.explain(), self.whole.explain(), self.open.explain()),
            "_programs.Program.dot_widths": lambda: (self.interpreted.dot_widths(), self.whole.dot_widths()),
            "_programs.Program.dot_errors": lambda: self.interpreted.dot_errors(self.dots, A),
            "_programs.Calibrator.__init__": lambda: programs.Calibrator(INTERPRETED.encode(), False, given({"w": W}), "main",
                                                                          "compiled", "", True),
            "_programs.Calibrator.run": lambda: self.calibrator.run(A),
            "_programs.Calibrator.text": lambda: self.calibrator.text(),
            "_programs.DotOptions.__init__": lambda: programs.DotOptions("mxfp4"),
            "_programs.Weights.__init__": lambda: given({"w": W}),
            "_programs.recipes": programs.recipes,
            "_programs.check_recipe": lambda: programs.check_recipe('{"rules": [{"weights": "mxfp4"}]}'),
            "_programs.compile": lambda: compiled(OPEN, {}),
            "_programs.tune": lambda: tuned(lambda results: 1.0),
            "_core.Checkpoint.__init__": lambda: core.Checkpoint(str(folder / "checkpoint")),
            "_core.Checkpoint.dequantize": lambda: self.checkpoint.dequantize(name),
            "_core.Checkpoint.input_scale": lambda: self.checkpoint.input_scale(name),
            "_core.Checkpoint.outer_scale": lambda: self.checkpoint.outer_scale(name),
            "_core.Checkpoint.get": lambda: self.checkpoint.get(name, None),
            "_core.Checkpoint.keys": lambda: list(self.checkpoint.keys()),
            "_core.Checkpoint.values": lambda: list(self.checkpoint.values()),
            "_core.Checkpoint.items": lambda: list(self.checkpoint.items()),
            "_core.Checkpoint.__getitem__": lambda: self.checkpoint[name],
            "_core.Checkpoint.__contains__": lambda: name in self.checkpoint,
            "_core.Checkpoint.__len__": lambda: len(self.checkpoint),
            "_core.Checkpoint.__iter__": lambda: list(self.checkpoint),
            "_core.Checkpoint.__repr__": lambda: repr(self.checkpoint),
            "_core.ElementFormat.__init__": lambda: core.ElementFormat("e5m2"),
            "_core.ElementFormat.__reduce__": lambda: pickle.dumps(core.ElementFormat("e5m2")),
            "_core.ElementFormat.__repr__": lambda: repr(core.ElementFormat("e5m2")),
            # Made by others alone.
            "_core.ErrorRow.__init__": lambda: refused(core.ErrorRow),
            "_core.Finding.__init__": lambda: refused(core.Finding),
            "_loaded.Program.__init__": lambda: refused(loaded.Program),
            "_programs.Program.__init__": lambda: refused(programs.Program),
            "_core.ErrorRow.__repr__": lambda: repr(self.samples["_core.ErrorRow"]),
            "_core.Finding.__repr__": lambda: repr(findings[0]),
            "_core.PackedWeight.__init__": lambda: core.PackedWeight(self.tensor.T),
            "_core.PackedWeight.__repr__": lambda: repr(self.packed),
            "_core.ScaledFormat.__init__": lambda: core.ScaledFormat("nvfp4"),
            "_core.ScaledFormat.__reduce__": lambda: pickle.dumps(core.ScaledFormat("nvfp4")),
            "_core.ScaledFormat.__repr__": lambda: repr(core.ScaledFormat("nvfp4")),
            "_core.ScaledTensor.__init__": lambda: core.ScaledTensor(self.tensor.codes, self.tensor.scales, "mxfp8_e4m3"),
            "_core.ScaledTensor.dequantize": self.tensor.dequantize,
            "_core.ScaledTensor.__getitem__": lambda: self.tensor[2:4],
            "_core.ScaledTensor.__len__": lambda: len(self.tensor),
            "_core.ScaledTensor.__eq__": lambda: self.tensor == self.tensor,
            "_core.ScaledTensor.__matmul__": lambda: self.tensor @ self.tensor.T,
            "_core.ScaledTensor.__rmatmul__": lambda: X @ self.tensor.T,
            "_core.ScaledTensor.__array__": lambda: refused(lambda: np.asarray(self.tensor)),
            "_core.ScaledTensor.__getstate__": lambda: pickle.dumps(self.tensor),
            "_core.ScaledTensor.__setstate__": lambda: pickle.loads(pickle.dumps(self.tensor)),
            "_core.ScaledTensor.__repr__": lambda: repr(self.tensor),
            "_core.amax": lambda: core.amax(X),
            "_core.analyze": lambda: core.analyze(X, "mxfp4"),
            "_core.cap_fnuz": lambda: core.cap_fnuz(fnuz),
            "_core.check_edge": lambda: core.check_edge("mxfp4", "torchao-rceil", (8, 64), 1),
            "_core.checkpoint_layouts": core.checkpoint_layouts if hasattr(core, "checkpoint_layouts") else None,
            "_core.convert": lambda: core.convert(X, "e4m3fn"),
            "_core.current_scale": lambda: core.current_scale(np.float32(3), "e4m3fn"),
            "_core.dequantize": lambda: core.dequantize(self.tensor),
            "_core.formats": core.formats,
            "_core.get_threads": core.get_threads,
            "_core.isa": core.isa,
            "_core.lint_checkpoint": lambda: core.lint_checkpoint(str(folder / "damaged"), []),
            "_core.load": lambda: core.load(str(folder / "checkpoint" / "model.safetensors")),
            "_core.matmul": lambda: (core.matmul(self.tensor, self.tensor.T), core.matmul(X, self.packed)),
            "_core.pack": lambda: core.pack(np.zeros(8, np.uint8), "e2m1fn"),
            "_core.presets": lambda: core.presets("mxfp4"),
            "_core.quantize": lambda: core.quantize(X, "nvfp4"),
            "_core.quantize_both": lambda: core.quantize_both(X[:, :32].repeat(4, 0), "mxfp8_e4m3"),
            "_core.samples": lambda: core.samples("normal", 64),
            "_core.save": lambda: core.save(str(folder / "saved.safetensors"), {"x": X}),
            "_core.set_threads": lambda: core.set_threads(0),
            "_core.to_fnuz": lambda: core.to_fnuz(core.convert(X, "e4m3fn"), scales),
            "_core.to_ocp": lambda: core.to_ocp(fnuz, scales),
            "_core.unpack": lambda: core.unpack(np.zeros(4, np.uint8), "e2m1fn"),
            "_core.update_delayed_scale": lambda: core.update_delayed_scale(np.ones(4, np.float32), np.float32(1), "e4m3fn"),
            "_core.write_checkpoint": lambda: core.write_checkpoint(str(folder / "written"), {"m.weight": self.tensor}, "native", "{}"),
        } | {f"_core.{name}": jax_called for name in dir(core) if name.startswith("jax_")}
        self.calls = {name: call for name, call in self.calls.items() if call is not None}


def refused(call):
    try:
        call()
    except TypeError:
        pass


def functions():
    """Names of all functions and methods; of all properties."""
    called, asked = [], []
    for prefix, module in MODULES.items():
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__:
                for each, what in vars(value).items():
                    if each in ALIKE or each.startswith("__nb_"):
                        continue
                    if isinstance(what, property):
                        asked.append(f"{prefix}.{name}.{each}")
                    elif callable(what):
                        called.append(f"{prefix}.{name}.{each}")
            elif callable(value) and not name.startswith("__"):
                called.append(f"{prefix}.{name}")
    return called, asked


def main(folder):
    uses = Uses(folder)
    called, asked = functions()
    missing, unknown = sorted(set(called) - set(uses.calls)), sorted(set(uses.calls) - set(called))
    if missing or unknown:
        sys.exit(f"say in calls_at_once.py how to call {missing}; there is no {unknown}")
    for name in asked:
        sample = uses.samples[name.rpartition(".")[0]]
        uses.calls[name] = lambda sample=sample, name=name: getattr(sample, name.rpartition(".")[2])

    def metric(results):
        time.sleep(0.001)
        return 1.0

    own = [name for name in uses.calls if name.startswith(("_programs.", "_loaded."))]
    slow = {"an interpreted call": (lambda: uses.interpreted(A), list(uses.calls)),
            "a call that is interpreted as a whole": (lambda: uses.whole(A), own),
            "dot_errors": (lambda: uses.interpreted.dot_errors(uses.dots, A), own),
            "a run of a calibrator": (lambda: uses.calibrator.run(A), own),
            "tuning": (lambda: tuned(metric), own)}
    for what, (call, names) in slow.items():
        isOver, runs, errors = threading.Event(), [0], []

        def work(call=call, isOver=isOver, runs=runs, errors=errors):
            try:
                while not isOver.is_set():
                    call()
                    runs[0] += 1
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        time.sleep(0.1)
        for name in names:
            print(f"{what}: {name}", flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            uses.calls[name]()
            if errors:
                raise errors[0]
        isOver.set()
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        thread.join()
        faulthandler.cancel_dump_traceback_later()
        if errors:
            raise errors[0]
        assert runs[0] > 0
    print("all", flush=True)


def prepare(folder, octavo_command):
    """What the calls need on disk."""
    import json
    import subprocess
    (folder / "p.mlir").write_text(OPEN.replace("?", "100"))
    subprocess.run([octavo_command, "compile", folder / "p.mlir", "-o", folder / "folder"], check=True,
                   stdout=subprocess.DEVNULL)
    core.write_checkpoint(str(folder / "checkpoint"), {"m.weight": core.quantize(X, "mxfp8_e4m3")}, "native", "{}")
    (folder / "damaged").mkdir()
    (folder / "damaged" / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": "none.safetensors"}}))
    core.save(str(folder / "damaged" / "model.safetensors"), {"w": X})


if __name__ == "__main__":
    import os
    import pathlib
    with tempfile.TemporaryDirectory() as place:
        prepare(pathlib.Path(place), os.path.join(os.environ["OCTAVO_BIN_DIR"], "octavo"))
        main(pathlib.Path(place))
    os._exit(0)  # whatever threads are left
