"""octavo.load_program: folders of `octavo compile`, called as what octavo.compile gives."""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR, which writes the folders")
import octavo

BIN = pathlib.Path(os.environ["OCTAVO_BIN_DIR"])
PROGRAM = """
func.func @main(%x: tensor<4x64xf32> {octavo.name = "x"}, %w: tensor<64x16xf32> {octavo.name = "w", octavo.parameter},
                %n: tensor<i32> {octavo.name = "n"}) -> (tensor<4x16xf32> {octavo.name = "y"}, tensor<i32> {octavo.name = "m"}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x16xf32>) -> tensor<4x16xf32>
  %1 = stablehlo.tanh %0 : tensor<4x16xf32>
  %2 = stablehlo.add %n, %n : tensor<i32>
  return %1, %2 : tensor<4x16xf32>, tensor<i32>
}"""
DRAWN = np.random.default_rng(0)
X = DRAWN.standard_normal((4, 64), dtype=np.float32)
W = DRAWN.standard_normal((64, 16), dtype=np.float32)


def compiled(folder, text, *options):
    (folder / "p.mlir").write_text(text)
    subprocess.run([BIN / "octavo", "compile", folder / "p.mlir", "-o", folder / "folder", *options], check=True,
                   capture_output=True)
    return folder / "folder"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("program")
    octavo.save(path / "w.safetensors", {"w": W})
    return compiled(path, PROGRAM, "--weights", path / "w.safetensors")


def test_it_gives_what_compile_gives(folder):
    program = octavo.load_program(folder)
    expected = octavo.compile(PROGRAM, weights={"w": W})(X, 3)
    for found in (program(X, 3), program(x=X, n=3), program(X, n=np.int32(3))):
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1] == 6
    np.testing.assert_allclose(expected[0], np.tanh(X.astype(np.float64) @ W), atol=1e-5)


def test_it_says_what_it_takes_and_gives(folder):
    program = octavo.load_program(str(folder))
    assert [(each.name, each.shape, each.type, each.is_bound) for each in program.arguments] == [
        ("x", (4, 64), "f32[4, 64]", False), ("n", (), "i32[]", False)]
    assert [(each.name, each.shape, each.dtype) for each in program.results] == [
        ("y", (4, 16), "float32"), ("m", (), "int32")]
    assert program.function == "main"
    assert repr(program).startswith("<octavo.LoadedProgram @main: (f32[4, 64], i32[]) -> (f32[4, 16]")


def test_arrays_of_torch_and_jax(folder):
    program = octavo.load_program(folder)
    expected = program(X, 3)[0]
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(program(torch.from_numpy(X), 3)[0], expected)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    jax = pytest.importorskip("jax")
    np.testing.assert_array_equal(program(jax.numpy.asarray(X), 3)[0], expected)


def test_results_go_where_the_caller_says(folder):
    program = octavo.load_program(folder)
    y, m = np.empty((4, 16), np.float32), np.empty((), np.int32)
    found = program(X, 4, out=(y, m))
    assert found[0] is y and m == 8
    np.testing.assert_array_equal(y, program(X, 4)[0])
    with pytest.raises(octavo.ShapeError, match="shares memory"):
        program(X, 4, out=(X.reshape(-1)[:64].reshape(4, 16), m))


def test_donated_arguments_are_updated_where_they_lie(tmp_path):
    program = octavo.load_program(compiled(tmp_path, """
func.func @main(%cache: tensor<8x4xf32> {tf.aliasing_output = 0 : i32}, %row: tensor<1x4xf32>, %at: tensor<i32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %new = stablehlo.dynamic_update_slice %cache, %row, %at, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %new : tensor<8x4xf32>
}"""))
    cache = np.zeros((8, 4), np.float32)
    for at in range(3):
        assert program(cache, np.full((1, 4), at + 1, np.float32), at, out=cache) is cache
    np.testing.assert_array_equal(cache[:, 0], [1, 2, 3, 0, 0, 0, 0, 0])
    kept = cache.copy()
    program(cache, np.full((1, 4), 9, np.float32), 0)
    np.testing.assert_array_equal(cache, kept)


def test_kernels_write_over_donated_arguments(tmp_path):
    """Both given away, one of them, none; and one of them bound, which no run changes."""
    text = """
func.func @main(%a: tensor<64x40xf32> {octavo.name = "a", tf.aliasing_output = 0 : i32},
                %b: tensor<64x40xf32> {octavo.name = "b", tf.aliasing_output = 1 : i32},
                %c: tensor<64x40xf32> {octavo.name = "c"}) -> (tensor<64x40xf32>, tensor<64x40xf32>) {
  %s = stablehlo.add %a, %c : tensor<64x40xf32>
  %t = stablehlo.subtract %b, %c : tensor<64x40xf32>
  return %s, %t : tensor<64x40xf32>, tensor<64x40xf32>
}"""
    a, b, c = (DRAWN.standard_normal((64, 40), dtype=np.float32) for _ in range(3))
    expected = (a + c, b - c)
    program = octavo.load_program(compiled(tmp_path, text))
    for overwrites in ((False, False), (True, False), (False, True), (True, True)):
        given = [a.copy(), b.copy()]
        out = tuple(each if is_over else np.empty_like(each) for each, is_over in zip(given, overwrites, strict=True))
        found = program(*given, c, out=out)
        for wanted, each, where in zip(expected, found, out, strict=True):
            assert each is where
            np.testing.assert_array_equal(each, wanted)
    octavo.save(tmp_path / "w.safetensors", {"a": a})
    bound = octavo.load_program(compiled(tmp_path, text, "--weights", tmp_path / "w.safetensors"))
    for _ in range(2):
        found = bound(b, c)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


def test_arguments_that_are_donated_but_not_written_over(tmp_path):
    """Nothing lies in their place while the program runs; where a call gives them for the result, they may be it."""
    text = """
func.func @main(%y: tensor<?x4xf32> {octavo.name = "y", tf.aliasing_output = 1 : i32}, %w: tensor<4x4xf32> {octavo.name = "w"},
                %z: tensor<?x4xf32> {octavo.name = "z", jax.buffer_donor = true}) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %z, %w, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %1 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %2 = stablehlo.reverse %w, dims = [0] : tensor<4x4xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>
}"""
    y, z, w = (DRAWN.integers(-9, 9, (rows, 4)).astype(np.float32) for rows in (3, 3, 4))
    octavo.save(tmp_path / "w.safetensors", {"w": w})
    octavo.save(tmp_path / "wy.safetensors", {"w": w, "y": y})
    for program in (octavo.compile(text), octavo.load_program(compiled(tmp_path, text))):
        given, own = [y.copy(), z.copy()], np.empty_like(w)
        program(given[0], w, given[1], out=(given[1], given[0], own))
        np.testing.assert_array_equal(given, [y @ w, z @ w])
        np.testing.assert_array_equal(own, w[::-1])
        with pytest.raises(octavo.ShapeError, match='"w", which the program does not donate'):
            program(y, own, z, out=(np.empty_like(y), np.empty_like(y), own))
        with pytest.raises(octavo.ShapeError, match='"y", which the program does not donate'):
            program(given[0], w, z, out=(given[0], np.empty_like(y), own))
    bound = octavo.load_program(compiled(tmp_path, text, "--weights", tmp_path / "w.safetensors"))
    given = z.copy()
    bound(y, given, out=(given, np.empty_like(y), own))
    np.testing.assert_array_equal(given, z @ w)


def test_what_does_not_fit_is_named(folder, tmp_path):
    program = octavo.load_program(folder)
    with pytest.raises(octavo.DtypeError, match='"x" of @main: expected float32, found float64'):
        program(X.astype(np.float64), 3)
    with pytest.raises(octavo.ShapeError, match="expected f32"):
        program(X[:2], 3)
    with pytest.raises(octavo.ProgramError, match='no argument "w"'):
        program(X, 3, w=W)
    with pytest.raises(octavo.ProgramError, match='"n" of @main has no value'):
        program(X)
    with pytest.raises(octavo.ProgramError, match="program.octavo: No such file.*octavo compile"):
        octavo.load_program(tmp_path)
    with pytest.raises(octavo.DtypeError, match="expected a path"):
        octavo.load_program(3)


def test_threads(folder):
    program = octavo.load_program(folder)
    expected = program(X, 3)[0]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda _: program(X, 3)[0], range(200)):
            np.testing.assert_array_equal(found, expected)


def test_a_folder_that_is_written_again_is_another_program(tmp_path):
    """Each of the programs that were loaded from one path stays what it was; each is loaded twice, released once.
    When all are released, no file of theirs is open or mapped."""
    text = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %c = stablehlo.constant dense<{}.0> : tensor<3xf32>
  %0 = stablehlo.multiply %x, %c : tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""
    x = np.array([1, -4, 0.25], np.float32)
    opened = len(os.listdir("/proc/self/fd"))
    programs = []
    for factor in range(2, 22):
        path = compiled(tmp_path, text.format(factor))
        programs.append(octavo.load_program(path))
        again = octavo.load_program(path)
        np.testing.assert_array_equal(again(x), x * factor)
        del again
        for factor_of_each, program in enumerate(programs, 2):
            np.testing.assert_array_equal(program(x), x * factor_of_each)
    assert str(path) in pathlib.Path("/proc/self/maps").read_text()
    programs.clear()
    del program
    assert str(path) not in pathlib.Path("/proc/self/maps").read_text()
    assert len(os.listdir("/proc/self/fd")) == opened


def test_any_number_of_items(tmp_path):
    """A program that JAX exports with an open batch, which asserts that there is an item, and at most 1099."""
    jax = pytest.importorskip("jax")

    def function(x, y):
        hidden = jax.numpy.maximum(x @ W, 0) + y
        return jax.nn.softmax(hidden), hidden.reshape(-1)

    b, = jax.export.symbolic_shape("b", constraints=["b <= 1099"])
    exported = jax.export.export(jax.jit(function))(jax.ShapeDtypeStruct((b, 64), np.float32),
                                                    jax.ShapeDtypeStruct((b, 16), np.float32))
    program = octavo.load_program(compiled(tmp_path, exported.mlir_module()))
    assert [each.shape for each in program.arguments] == [(None, 64), (None, 16)]
    assert [each.shape for each in program.results] == [(None, 16), (None,)]
    reference = octavo.compile(exported, backend="reference")
    same = octavo.compile(exported)
    for items in (1, 2, 7, 1009, 2):
        drawn = np.random.default_rng(items)
        x, y = drawn.integers(-3, 4, (items, 64)).astype(np.float32), drawn.standard_normal((items, 16), np.float32)
        found = program(x, y)
        for each, wanted, near in zip(found, same(x, y), reference(x, y), strict=True):
            np.testing.assert_array_equal(each, wanted)
            np.testing.assert_allclose(each, near, rtol=1e-4, atol=1e-5)
        assert same.explain()["open_extents"] == "any number of items"
        out = np.empty((items, 16), np.float32), np.empty(items * 16, np.float32)
        assert program(x, y, out=out)[1] is out[1]
        np.testing.assert_array_equal(out[1], found[1])
        with pytest.raises(octavo.ShapeError):
            program(x, y, out=(np.empty((items + 1, 16), np.float32), out[1]))
    with pytest.raises(octavo.ShapeError, match=r'not of one number of items: ".*" has 3 along axis 0, ".*" is of 2'):
        program(np.zeros((2, 64), np.float32), np.zeros((3, 16), np.float32))
    for items in (0, 1100):
        with pytest.raises(octavo.ShapeError, match=f"@main takes 1 to 1099 items, and {items} were given"):
            program(np.zeros((items, 64), np.float32), np.zeros((items, 16), np.float32))
    with pytest.raises(octavo.ShapeError, match="expected"):
        program(np.zeros((2, 63), np.float32), np.zeros((2, 16), np.float32))


def test_numbers_of_items_at_once(tmp_path):
    program = octavo.load_program(compiled(tmp_path, PROGRAM.replace("tensor<4x", "tensor<?x")))
    given = {items: np.random.default_rng(items).standard_normal((items, 64), np.float32) for items in (1, 5, 64, 200)}
    expected = {items: program(x, n=1, w=W)[0] for items, x in given.items()}
    for items, x in given.items():
        np.testing.assert_allclose(expected[items], np.tanh(x.astype(np.float64) @ W), atol=1e-5)
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        for items, found in threads.map(lambda items: (items, program(given[items], n=1, w=W)[0]), [*given] * 50):
            np.testing.assert_array_equal(found, expected[items])


def test_no_compiler_is_loaded(folder):
    """Neither MLIR nor LLVM is in the process that loads and calls a program."""
    code = ("import octavo, numpy, sys\n"
            f"octavo.load_program({str(folder)!r})(numpy.ones((4, 64), 'f4'), 1)\n"
            "maps = open('/proc/self/maps').read()\n"
            "sys.exit('LLVM' in maps or 'MLIR' in maps or '_programs' in maps or 'codegen' in maps)")
    subprocess.run([sys.executable, "-c", code], check=True)
