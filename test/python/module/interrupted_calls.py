"""Makes one call that compiles, runs or waits for long, and says whether Ctrl-C ended it: run by
test_interrupted_calls.py, in a process of its own. Prints "begin" before the call and "interrupted" when
KeyboardInterrupt is raised."""
import json
import pathlib
import struct
import sys
import threading
import time

import numpy as np

import octavo
import octavo._core as core
import octavo._programs as programs

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import growth  # noqa: E402

SLOW = growth.slow_to_compile()
OPEN = growth.slow_to_compile(kind="tensor<?x64xf32>")
ROWS = np.ones((64, 64), np.float32)
WEIGHTS = {"w": np.eye(64, dtype=np.float32)}
ENDLESS = growth.long_dot()


def tune(program, metric=None, formats=("mxfp4",), **options):
    budget = "relative <= 0.1" if metric is None else "metric >= 0"
    return octavo.tune(program, (ROWS,), budget=budget, weights=WEIGHTS, metric=metric, formats=formats, **options)


def of(make, call):
    """`call` of what `make` gives, which is made before."""
    def prepare():
        made = make()
        return lambda: call(made)
    return prepare


def waiting(source, call, backend="compiled"):
    """`call` of a program while another thread calls it, which compiles it if it is open."""
    def prepare():
        program = octavo.compile(source, weights=WEIGHTS if " %w" in source else None, backend=backend)
        threading.Thread(target=lambda: program(ROWS), daemon=True).start()
        time.sleep(1)
        return lambda: call(program)
    return prepare


def lint_of_much(folder):
    """A folder whose weights are a file of zeros that takes seconds to read and no room on the disk."""
    core.write_checkpoint(str(folder / "small"), {"m.weight": core.quantize(ROWS, "mxfp8_e4m3")}, "native", "{}")
    rows, columns = 1 << 20, 1 << 15
    path = folder / "small" / "model.safetensors"
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    begin = 0
    for name, each in sorted(header.items()):
        if name == "__metadata__":
            continue
        each["shape"] = [rows, columns if each["shape"][1] == 64 else columns // 32]
        end = begin + each["shape"][0] * each["shape"][1]
        each["data_offsets"], begin = [begin, end], end
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + begin)
    return folder / "small"


def cases(folder):
    """{function of the extension modules, a colon and what it does for long: what prepares the call}"""
    dots = programs.DotOptions("mxfp4")
    return {
        "_programs.compile: compiles": lambda: lambda: octavo.compile(SLOW),
        "_programs.tune: compiles": lambda: lambda: tune(growth.slow_dot()),
        "_programs.tune: runs": lambda: lambda: tune(ENDLESS),
        "_programs.tune: runs its interpreter": lambda: lambda: tune(ENDLESS, backend="reference"),
        "_programs.tune: times": lambda: lambda: tune(ENDLESS, cost="time"),
        "_programs.tune: computes its metric": lambda: lambda: tune(growth.slow_dot(3), metric=lambda outputs: time.sleep(60) or 1.0),
        "_programs.Program.__call__: compiles": of(lambda: octavo.compile(OPEN), lambda program: program(ROWS)),
        "_programs.Program.__call__: runs": of(lambda: octavo.compile(ENDLESS, weights=WEIGHTS), lambda program: program(ROWS)),
        "_programs.Program.__call__: interprets": of(lambda: octavo.compile(ENDLESS, weights=WEIGHTS, backend="reference"),
                                                     lambda program: program(ROWS)),
        "_programs.Program.__call__: waits for a compilation": waiting(OPEN, lambda program: program(ROWS[:7])),
        "_programs.Program.__call__: waits for its turn": waiting(ENDLESS, lambda program: program(ROWS), "reference"),
        "_programs.Program.explain: compiles": of(lambda: octavo.compile(OPEN), lambda program: program.explain()),
        "_programs.Program.explain: waits for a compilation": waiting(OPEN, lambda program: program.explain()),
        "_programs.Program.explain: waits for a run": waiting(ENDLESS, lambda program: program.explain(), "reference"),
        "_programs.Program.dot_widths: waits for a compilation": waiting(OPEN, lambda program: program.dot_widths()),
        "_programs.Program.dot_errors: compiles": of(lambda: octavo.compile(growth.slow_dot(3000), weights=WEIGHTS),
                                                     lambda program: program._called.dot_errors(dots, ROWS)),
        "_programs.Program.dot_errors: runs": of(lambda: octavo.compile(ENDLESS, weights=WEIGHTS),
                                                 lambda program: program._called.dot_errors(dots, ROWS)),
        "_programs.Program.dot_errors: waits for a run": waiting(ENDLESS, lambda program: program.dot_errors(ROWS, quantize="mxfp4"), "reference"),
        "_programs.Calibrator.__init__: compiles": lambda: lambda: octavo.calibrate(growth.slow_dot(), [ROWS], weights=WEIGHTS),
        "_programs.Calibrator.run: runs": lambda: lambda: octavo.calibrate(ENDLESS, [ROWS], weights=WEIGHTS),
        "_programs.Calibrator.run: compiles": lambda: lambda: octavo.calibrate(open_dot(), [ROWS], weights=WEIGHTS),
        "_core.lint_checkpoint: reads": of(lambda: lint_of_much(folder), lambda path: core.lint_checkpoint(str(path), [])),
    }


def open_dot():
    """A dot with a weight, of any number of rows, and operations that take long to compile after it."""
    many = "tensor<?x64xf32>"
    chain = growth.slow_to_compile(kind=many).partition("{\n")[2].replace(" %a ", " %d ")
    return (f'func.func @main(%a: {many} {{octavo.name = "a"}}, %w: {growth.SQUARE} {{octavo.name = "w"}}) -> {many} {{\n'
            f"  %d = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : ({many}, {growth.SQUARE}) -> {many}\n" + chain)


if __name__ == "__main__":
    call = cases(pathlib.Path(sys.argv[2]))[sys.argv[1]]()
    print("begin", flush=True)
    try:
        call()
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(7)
