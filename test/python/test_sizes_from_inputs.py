"""Operations whose sizes are numbers of an input. The size that a value turns out to have is held to the
type that the program declares, wherever the program runs: a value of another size is an error that names
the operation, and is neither written beyond its place nor leaves part of its place as it was."""

import subprocess

import numpy as np
import pytest
from commands import OCTAVO
from sized_operations import CASES, F, ONE, OPERATIONS, arrays, sized

pytestmark = pytest.mark.mlir


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
