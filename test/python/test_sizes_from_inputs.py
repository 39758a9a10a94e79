"""Operations whose sizes are numbers of an input. The size that a value turns out to have is held to the
type that the program declares, wherever the program runs: a value of another size is an error that names
the operation, and is neither written beyond its place nor leaves part of its place as it was."""

import subprocess
import sys

import numpy as np
import pytest
from commands import OCTAVO

pytestmark = pytest.mark.mlir

F, L = np.float32, np.int64


def function(arguments, result, body):
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %r : {result}\n}}\n"


def sized(operation, result, arguments="%s: tensor<1xi64>", before=""):
    return function(arguments, result, f"{before}\n  %r = {operation}")


ONE = "  %a = stablehlo.constant dense<1.5> : tensor<f32>\n  %b = stablehlo.constant dense<2.5> : tensor<f32>"
X = np.arange(9, dtype=F)
GATHER = ("#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>")
CONVOLUTION = "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>"

# Of each operation: a program whose result is declared of four, what it is given besides the sizes, the
# sizes that make four with the value that they make, and sizes that make more, fewer, none, and too many.
OPERATIONS = {
    "rng": (
        sized("stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>",
              "tensor<4xf32>", before=ONE),
        [], [[4]], None, [[[5]], [[5_000_000]], [[1]], [[0]], [[2**40]], [[-4]], [[2**63 - 1]]]),
    "dynamic_iota": (
        sized("stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<4xi32>", "tensor<4xi32>"),
        [], [[4]], np.arange(4, dtype=np.int32),
        [[[5]], [[5_000_000]], [[1]], [[0]], [[2**40]], [[-1]], [[-2**63]], [[2**63 - 1]]]),
    "dynamic_broadcast_in_dim": (
        sized("stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>",
              "tensor<4xf32>", before=ONE),
        [], [[4]], np.full(4, 1.5, F), [[[5]], [[5_000_000]], [[1]], [[0]], [[2**40]], [[-1]], [[2**63 - 1]]]),
    "dynamic_reshape": (
        sized("stablehlo.dynamic_reshape %x, %s : (tensor<8xf32>, tensor<2xi64>) -> tensor<2x4xf32>", "tensor<2x4xf32>",
              "%x: tensor<8xf32>, %s: tensor<2xi64>"),
        [X[:8]], [[2, 4]], X[:8].reshape(2, 4), [[[8, 1]], [[4, 2]], [[1, 8]], [[-2, -4]], [[0, 2**62]]]),
    "dynamic_pad": (
        sized("stablehlo.dynamic_pad %x, %a, %l, %h, %i : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>",
              "tensor<4xf32>", "%x: tensor<2xf32>, %l: tensor<1xi64>, %h: tensor<1xi64>, %i: tensor<1xi64>", ONE),
        [X[1:3]], [[1], [0], [1]], np.array([1.5, 1, 1.5, 2], F),
        [[[5_000_000], [1], [0]], [[0], [0], [0]], [[-2], [0], [0]], [[0], [0], [2**63 - 1]], [[2**63 - 1], [2**63 - 1], [2]],
         [[0], [0], [-1]], [[-3], [0], [0]], [[2**62], [-2**62], [0]]]),
    "real_dynamic_slice": (
        sized("stablehlo.real_dynamic_slice %x, %b, %e, %t : (tensor<9xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>",
              "tensor<4xf32>", "%x: tensor<9xf32>, %b: tensor<1xi64>, %e: tensor<1xi64>, %t: tensor<1xi64>"),
        [X], [[1], [8], [2]], X[1:8:2],
        [[[0], [9], [1]], [[0], [3], [1]], [[2], [2], [1]], [[0], [9], [2**63 - 1]], [[0], [4], [0]], [[100_000], [100_004], [1]],
         [[-1], [3], [1]], [[4], [0], [1]]]),
    "dynamic_gather": (
        sized(f'"stablehlo.dynamic_gather"(%x, %i, %z) {{dimension_numbers = {GATHER}}} : (tensor<9x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x4xf32>',
              "tensor<2x4xf32>", "%x: tensor<9x5xf32>, %i: tensor<2xi64>, %z: tensor<2xi64>"),
        [np.arange(45, dtype=F).reshape(9, 5), np.array([2, 7])], [[1, 4]], np.arange(45, dtype=F).reshape(9, 5)[[2, 7], :4],
        [[[1, 5]], [[1, 3]], [[1, 0]], [[1, 2**62]], [[1, -4]], [[2, 4]]]),
    "dynamic_conv": (
        sized(f'"stablehlo.dynamic_conv"(%x, %w, %p) {{dimension_numbers = {CONVOLUTION}, feature_group_count = 1 : i64, batch_group_count = 1 : i64}} : (tensor<1x4x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi64>) -> tensor<1x4x1xf32>',
              "tensor<1x4x1xf32>", "%x: tensor<1x4x1xf32>, %w: tensor<2x1x1xf32>, %p: tensor<1x2xi64>"),
        [np.ones((1, 4, 1), F), np.ones((2, 1, 1), F)], [[[1, 0]]], np.array([1, 2, 2, 2], F).reshape(1, 4, 1),
        [[[[1_000_000, 1]]], [[[0, 0]]], [[[-4, 0]]], [[[-9, 0]]], [[[2**63 - 1, 2**63 - 1]]], [[[2**40, 0]]]]),
    "set_dimension_size": (
        sized("stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>", "tensor<4xf32>",
              "%x: tensor<4xf32>, %n: tensor<i32>"),
        [X[:4]], [4], X[:4], [[2], [0], [5], [-1], [2**31 - 1]]),
}


def arrays(name, sizes):
    dtype = np.int32 if name == "set_dimension_size" else L
    return [*OPERATIONS[name][1], *(np.array(each, dtype) for each in sizes)]


def run(folder, text, given, *options):
    (folder / "p.mlir").write_text(text)
    (folder / "out.npy").unlink(missing_ok=True)
    inputs = []
    for i, array in enumerate(given):
        np.save(folder / f"{i}.npy", array)
        inputs += ["--input", folder / f"{i}.npy"]
    return subprocess.run([OCTAVO, "run", folder / "p.mlir", *inputs, "--output", folder / "out.npy", *options],
                          capture_output=True, text=True, timeout=120)


def assert_refused(ended, *words):
    assert ended.returncode in (1, 3), (ended.returncode, ended.stdout, ended.stderr)
    for word in words:
        assert word in ended.stderr, (word, ended.stderr)


CASES = [(name, sizes) for name, row in OPERATIONS.items() for sizes in row[4]]


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_the_declared_size_gives_the_value(tmp_path, backend):
    for name, (text, _, sizes, expected, _) in OPERATIONS.items():
        ended = run(tmp_path, text, arrays(name, sizes), "--backend", backend)
        assert ended.returncode == 0, (name, ended.stderr)
        found = np.load(tmp_path / "out.npy")
        if expected is None:
            assert found.shape == (4,) and ((1.5 <= found) & (found < 2.5)).all()
        else:
            np.testing.assert_array_equal(found, expected, name, strict=True)


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("name, sizes", CASES, ids=[f"{name}-{sizes}" for name, sizes in CASES])
def test_another_size_is_refused_at_its_operation(tmp_path, name, sizes, backend):
    ended = run(tmp_path, OPERATIONS[name][0], arrays(name, sizes), "--backend", backend)
    assert_refused(ended, f"stablehlo.{name}'", "p.mlir:")
    assert not (tmp_path / "out.npy").exists()


def test_the_error_says_what_was_declared_and_what_to_do(tmp_path):
    for backend in ("compiled", "reference"):
        ended = run(tmp_path, OPERATIONS["dynamic_iota"][0], arrays("dynamic_iota", [[6]]), "--backend", backend)
        assert_refused(ended, "p.mlir:3:8: 'stablehlo.dynamic_iota': result: expected tensor<4xi32>", "[6]", "declare the extent as ?")


# The value of a wrong size lies between others, in a loop, in a branch, or goes through a call.
AROUND = {
    "among kernels": """func.func @main(%x: tensor<4xf32>, %s: tensor<1xi64>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %a = stablehlo.constant dense<1.5> : tensor<f32>
  %1 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
  %3 = stablehlo.add %2, %0 : tensor<4xf32>
  return %3 : tensor<4xf32>
}""",
    "in a loop": """func.func @main(%x: tensor<4xf32>, %s: tensor<1xi64>) -> tensor<4xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%k = %i, %y = %x, %t = %s) : tensor<i32>, tensor<4xf32>, tensor<1xi64>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.constant dense<1.5> : tensor<f32>
    %j = stablehlo.add %k, %one : tensor<i32>
    %w = stablehlo.dynamic_broadcast_in_dim %a, %t, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    %z = stablehlo.add %y, %w : tensor<4xf32>
    stablehlo.return %j, %z, %t : tensor<i32>, tensor<4xf32>, tensor<1xi64>
  }
  return %0#1 : tensor<4xf32>
}""",
    "in a branch": """func.func @main(%x: tensor<4xf32>, %s: tensor<1xi64>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<0> : tensor<1xi64>
  %g = stablehlo.compare GT, %s, %z : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %p = stablehlo.reshape %g : (tensor<1xi1>) -> tensor<i1>
  %0 = "stablehlo.if"(%p) ({
    %a = stablehlo.constant dense<1.5> : tensor<f32>
    %1 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}""",
    "through a call": """func.func @main(%x: tensor<4xf32>, %s: tensor<1xi64>) -> tensor<4xf32> {
  %0 = call @made(%s) : (tensor<1xi64>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @made(%s: tensor<1xi64>) -> tensor<4xf32> {
  %a = stablehlo.constant dense<1.5> : tensor<f32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}""",
}


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("name", AROUND)
def test_a_value_of_another_size_goes_nowhere(tmp_path, name, backend):
    x = np.arange(4, dtype=F)
    good = run(tmp_path, AROUND[name], [x, np.array([4])], "--backend", backend)
    assert good.returncode == 0, good.stderr
    for size in (5, 3, 0, 1 << 20):
        if name == "in a branch" and size == 0:
            continue
        ended = run(tmp_path, AROUND[name], [x, np.array([size])], "--backend", backend)
        assert_refused(ended, "'stablehlo.dynamic_broadcast_in_dim'", "expected tensor<4xf32>")


BOUNDED = sized("stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<?xi32, #stablehlo.bounds<4>>",
                "tensor<?xi32, #stablehlo.bounds<4>>")


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_bounds_hold(tmp_path, backend):
    for size in range(5):
        ended = run(tmp_path, BOUNDED, [np.array([size])], "--backend", backend)
        assert ended.returncode == 0, ended.stderr
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.arange(size, dtype=np.int32))
    for size in (5, 1 << 30, -1):
        assert_refused(run(tmp_path, BOUNDED, [np.array([size])], "--backend", backend), "'stablehlo.dynamic_iota'")


# A body whose argument is declared of three is handed what its type leaves open.
GROWS = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = "stablehlo.while"(%z, %x) ({
  ^bb0(%i: tensor<i32>, %a: tensor<3xf32>):
    %n = stablehlo.constant dense<4> : tensor<i32>
    %f = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %f : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<3xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %b = stablehlo.concatenate %a, %a, dim = 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<?xf32>
    stablehlo.return %j, %b : tensor<i32>, tensor<?xf32>
  }) : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}"""


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_what_a_region_is_given_fits_its_arguments(tmp_path, backend):
    assert_refused(run(tmp_path, GROWS, [np.ones(3, F)], "--backend", backend), "expected tensor<3xf32>, found tensor<6xf32>")


# Sizes that no memory has are errors, where extents are open too.
OPEN = {
    "iota": sized("stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<?x?xi32>", "tensor<?x?xi32>", "%s: tensor<2xi64>"),
    "broadcast": sized("stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>",
                       "tensor<?x?xf32>", "%s: tensor<2xi64>", ONE),
    "rng": sized("stablehlo.rng %a, %b, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>",
                 "tensor<?x?xf32>", "%s: tensor<2xi64>", ONE),
}


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("name", OPEN)
def test_no_memory_is_an_error(tmp_path, name, backend):
    for size in ((1 << 31, 1 << 31), (1 << 62, 4), (1 << 40, 1), (2**63 - 1, 2**63 - 1), (-1, 4)):
        ended = run(tmp_path, OPEN[name], [np.array(size)], "--backend", backend)
        assert_refused(ended, "p.mlir:")
    for size in ((0, 1 << 62), (1 << 62, 0), (0, 5), (0, 0)):
        ended = run(tmp_path, OPEN[name], [np.array(size)], "--backend", backend)
        assert ended.returncode == 0, (size, ended.stderr)
        if max(size) < 1 << 60:  # NumPy counts the bytes of the other extents
            assert np.load(tmp_path / "out.npy").shape == size


PYTHON = """
import sys, numpy as np, octavo
exec(open(sys.argv[1]).read())
for text, given in cases:
    program = octavo.compile(text)
    for _ in range(2):
        try:
            program(*given)
        except octavo.Error as error:
            print("refused:", str(error).splitlines()[0][:200])
        else:
            print("took")
"""


def test_python_raises(tmp_path):
    cases = [(OPERATIONS[name][0], arrays(name, sizes)) for name, sizes in CASES]
    (tmp_path / "cases.py").write_text("from numpy import array, int64, int32, float32\ncases = "
                                       + repr([(text, [[a.tolist(), str(a.dtype)] for a in given]) for text, given in cases])
                                       + "\ncases = [(t, [np.array(a, d) for a, d in g]) for t, g in cases]\n")
    (tmp_path / "run.py").write_text(PYTHON)
    ended = subprocess.run([sys.executable, tmp_path / "run.py", tmp_path / "cases.py"], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, (ended.returncode, ended.stderr[-2000:])
    lines = ended.stdout.splitlines()
    assert len(lines) == 2 * len(cases)
    for line, (name, sizes) in zip(lines[::2], CASES):
        assert line.startswith("refused: ") and f"stablehlo.{name}'" in line, (name, sizes, line)
