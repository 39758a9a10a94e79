"""How processor time and memory of commands grow with the programs that they are given."""
import os
import resource
import subprocess

import numpy as np

import growing_programs
from program_commands import OCTAVO

SHAPES = growing_programs.shapes()
# Ten times the program may take this many times as long, beyond what every process takes: n log n, and what timing varies.
# Quadratic growth is a factor of 100.
MOST_TIMES = 15
MOST_SECONDS_AT_REST = 0.7
MOST_BYTES_AT_REST = 96 << 20


class Cost:
    def __init__(self, seconds, most_bytes):
        self.seconds, self.bytes = seconds, most_bytes

    def __repr__(self):
        return f"{self.seconds:.2f} s of processor time, {self.bytes >> 20} MiB"


def cost(command, limit, code=0):
    """What a command takes, which may take so many seconds. Kernels that others have compiled are not found."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))

    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=bound,
                               env=os.environ | {"OCTAVO_CACHE_DIR": ""})
    with process.stderr as stream:
        said = stream.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == code, f"{process.returncode} from {' '.join(map(str, command))}\n{said[-2000:]}"
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def write(folder, shape, n):
    """A program of that shape with n steps, and the flags that give it inputs."""
    text = SHAPES[shape](n)
    program = folder / f"{shape.replace(' ', '-')}-{n}.mlir"
    program.write_text(text)
    flags, generator = [], np.random.default_rng(n)
    for i, (name, element, extents) in enumerate(growing_programs.arguments(text)):
        file = folder / f"{program.stem}-{name}.npy"
        values = generator.uniform(0.1, 0.9, extents)
        np.save(file, (values if element.startswith("float") else 1000 * values).astype(element))
        flags += ["--input", f"arg{i}={file}"]  # text without names in locations has none
    return program, flags


def octavo_command(command, folder, shape, n):
    """A command on a program of that shape: "run", "compile", or any other line that FILE, INPUTS and FOLDER stand in."""
    program, inputs = write(folder, shape, n)
    lines = {"run": ["run", "FILE", "INPUTS"], "compile": ["compile", "FILE", "-o", "FOLDER"]}
    words = []
    for word in lines.get(command, command.split()):
        words += inputs if word == "INPUTS" else [{"FILE": program, "FOLDER": folder / f"{program.stem}-out"}.get(word, word)]
    return [OCTAVO, *words]


def assert_linear(name, small, large):
    """`large` is of ten times the program."""
    assert large.seconds <= MOST_TIMES * small.seconds + MOST_SECONDS_AT_REST, f"{name}: {small}, ten times as long {large}"
    assert large.bytes <= MOST_TIMES * small.bytes and large.bytes <= small.bytes + 10 * MOST_BYTES_AT_REST, \
        f"{name}: {small}, ten times as long {large}"


def slow_to_compile(n=12000, kind="tensor<64xf32>"):
    """The text of a program of n operations whose kernels all differ: 12,000 take a minute of processor time to compile."""
    functions = ["tanh", "logistic", "exponential", "log_plus_one", "exponential_minus_one"]
    lines, y = [], "%a"
    for i in range(n):
        name = functions[i * i % 5] if i % 3 else functions[i // 7 % 5]
        lines += [f"  %v{i} = stablehlo.{name} {y} : {kind}"]
        y = f"%v{i}"
    return f"func.func @main(%a: {kind}) -> {kind} {{\n" + "\n".join(lines) + f"\n  return {y} : {kind}\n}}\n"


SQUARE = "tensor<64x64xf32>"
DOT = f"  %d = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : ({SQUARE}, {SQUARE}) -> {SQUARE}\n"
SIGNATURE = "func.func @main(" + ", ".join(f'%{name}: {SQUARE} {{octavo.name = "{name}"}}' for name in "aw") + f") -> {SQUARE} {{\n"


def slow_dot(n=12000):
    """A dot of an input and a weight, and n operations after it that take long to compile."""
    return SIGNATURE + DOT + slow_to_compile(n, SQUARE).partition("{\n")[2].replace(" %a ", " %d ")


def long_dot(rounds=10**12):
    """A dot of an input and a weight in a loop of so many rounds: it compiles at once and runs for long."""
    return SIGNATURE + f"""  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %rounds = stablehlo.constant dense<{rounds}> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i64>, {SQUARE}
    cond {{
      %c = stablehlo.compare LT, %i, %rounds : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
{DOT.replace("%a", "%x")}      %n = stablehlo.add %i, %one : tensor<i64>
      stablehlo.return %n, %d : tensor<i64>, {SQUARE}
    }}
  return %r#1 : {SQUARE}
}}
"""
