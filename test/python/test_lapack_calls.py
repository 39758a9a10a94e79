"""Linear algebra of JAX's programs for the CPU and for every platform: custom calls of LAPACK's
routines and of XLA's, evaluated by octavo. Results are held against what defines them (a product
that gives the matrix again, an orthogonal factor, ...) computed by NumPy in f64, and the programs
that JAX keeps from earlier versions against the results that JAX keeps with them."""

import importlib
import re
import subprocess

import numpy as np
import pytest
from test_reference import OCTAVO, run

pytestmark = pytest.mark.mlir

jax = pytest.importorskip("jax", reason="JAX writes the programs")
jnp = jax.numpy
lax = jax.lax
linalg = jax.lax.linalg
from jax._src.lax import linalg as primitives  # noqa: E402: geqrf and ormqr are not public

TYPES = [np.float32, np.float64, np.complex64, np.complex128]


def matrices(dtype, *shape):
    random = np.random.default_rng(7)
    x = random.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * random.standard_normal(shape)
    return x.astype(dtype)


def adjoint(a):
    return np.swapaxes(a.conj(), -1, -2)


def hermitian(dtype, n):
    a = matrices(dtype, 2, n, n)
    return a + adjoint(a)


def definite(dtype, n):
    a = matrices(dtype, 2, n, n)
    return (a @ adjoint(a) + n * np.eye(n)).astype(dtype)


def assert_near(found, expected, dtype, times=50):
    """Within `times` eps of the size of what is expected."""
    found, expected = np.asarray(found, np.complex128), np.asarray(expected, np.complex128)
    assert found.shape == expected.shape
    error = np.abs(found - expected).max(initial=0)
    assert error <= times * np.finfo(dtype).eps * max(1, np.abs(expected).max(initial=0)), error


def assert_unitary(q):
    assert_near(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), adjoint(q).shape[:-1] + q.shape[-1:]),
                q.dtype)


def check_lu(a, lu, pivots, permutation):
    m, n = a.shape[-2:]
    k = min(m, n)
    lower = np.tril(lu[..., :k], -1) + np.eye(m, k)
    upper = np.triu(lu[..., :k, :])
    rows = np.stack([x[p] for x, p in zip(a, permutation)])
    assert_near(lower @ upper, rows, a.dtype)
    assert np.abs(lower).max() <= np.sqrt(2) + 1e-6
    for swaps, order in zip(pivots, permutation):
        walked = np.arange(m)
        for i, j in enumerate(swaps):
            walked[[i, j]] = walked[[j, i]]
        assert np.array_equal(walked, order)


def check_qr(a, q, r):
    assert_unitary(q)
    assert_near(q @ r, a, a.dtype)
    assert np.array_equal(r, np.triu(r))


def check_pivoted_qr(a, q, r, columns):
    check_qr(np.stack([x[:, c] for x, c in zip(a, columns)]), q, r)
    diagonal = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    assert np.all(np.diff(diagonal) <= 1e-5)


def check_cholesky(a, l):
    assert_near(l @ adjoint(l), a, a.dtype)
    assert np.array_equal(l, np.tril(l))


def check_eigh(a, v, w):
    assert_unitary(v)
    assert_near(a @ v, v * w[..., None, :], a.dtype)
    assert_near(w, np.linalg.eigvalsh(a.astype(np.complex128)), a.dtype)


def check_svd(a, u, s, vt):
    assert_unitary(u)
    assert_unitary(adjoint(vt))
    k = s.shape[-1]
    assert_near((u[..., :k] * s[..., None, :]) @ vt[..., :k, :], a, a.dtype)
    assert_near(s, np.linalg.svd(a.astype(np.complex128), compute_uv=False), a.dtype)


def check_eig(a, w, left, right):
    assert_near(a @ right, right * w[..., None, :], a.dtype, 200)
    assert_near(adjoint(left) @ a, w[..., :, None] * adjoint(left), a.dtype, 200)
    assert_near(np.linalg.norm(right, axis=-2), np.ones(w.shape), a.dtype)


def check_schur(a, t, z):
    assert_unitary(z)
    assert_near(z @ t @ adjoint(z), a, a.dtype, 100)
    below = np.tril(t, -2 if np.isrealobj(t) else -1)
    assert not below.any()


def check_hessenberg(a, h, taus):
    n = a.shape[-1]
    assert_near(np.linalg.norm(np.triu(h, -1), axis=(-2, -1)), np.linalg.norm(a, axis=(-2, -1)), a.dtype)
    assert_near(np.sort_complex(np.linalg.eigvals(np.triu(h, -1).astype(np.complex128))).sum(-1),
                np.trace(a, axis1=-2, axis2=-1), a.dtype)
    assert taus.shape[-1] == n - 1


def check_tridiagonal(a, d, e):
    t = np.stack([np.diag(x) + np.diag(y, 1) + np.diag(y, -1) for x, y in zip(d, e)])
    assert_near(np.linalg.eigvalsh(t), np.linalg.eigvalsh(a.astype(np.complex128)), a.dtype)


def check_solution(a, x, b):
    assert_near(a @ x, b, a.dtype, 500)


def triangle(dtype, n):
    return (np.triu(matrices(dtype, 2, n, n)) + 3 * np.eye(n)).astype(dtype)


def solve_triangular(a):
    """Sides and forms: a @ x = b, x @ a^H = b, and a^T of a unit diagonal."""
    b = jnp.ones((2, a.shape[-1], 3), a.dtype)
    left = linalg.triangular_solve(a, b, left_side=True)
    right = linalg.triangular_solve(a, jnp.swapaxes(b, -1, -2), transpose_a=True, conjugate_a=True)
    unit = linalg.triangular_solve(a, b, left_side=True, transpose_a=True, unit_diagonal=True)
    return left, right, unit


def check_triangular(a, left, right, unit):
    ones = np.ones(left.shape)
    assert_near(a @ left, ones, a.dtype)
    assert_near(right @ adjoint(a), np.ones(right.shape), a.dtype)
    one = np.triu(a, 1) + np.eye(a.shape[-1])
    assert_near(np.swapaxes(one, -1, -2) @ unit, ones, a.dtype, 500)


def bands(a):
    """The lower, main and upper diagonal of a well-conditioned matrix, in n elements each."""
    n = a.shape[-1]
    zero = jnp.zeros((a.shape[0], 1), a.dtype)
    lower = jnp.concatenate([zero, jnp.diagonal(a, -1, -2, -1)], -1)
    upper = jnp.concatenate([jnp.diagonal(a, 1, -2, -1), zero], -1)
    return lower, jnp.diagonal(a, 0, -2, -1) + 2, upper, a[..., :2]


def check_bands(a, x):
    n = a.shape[-1]
    whole = np.triu(np.tril(a, 1), -1) + 2 * np.eye(n)
    assert_near(whole @ x, a[..., :2], a.dtype, 500)


def product_of_reflectors(a):
    """q of a QR by its reflectors, and products with it from either side."""
    qr, taus = primitives.geqrf(a)
    c = jnp.ones((2, a.shape[-2], 2), a.dtype)
    return (linalg.householder_product(qr, taus), primitives.ormqr(qr, taus, c),
            primitives.ormqr(qr, taus, c, transpose=True),
            primitives.ormqr(qr, taus, jnp.swapaxes(c, -1, -2), left=False))


def check_reflectors(a, q, left, adjointed, right):
    full = np.linalg.qr(a, mode="complete")[0]
    # Columns of either q differ by a factor of modulus 1, which the first ones tell.
    assert_unitary(q)
    assert_near(np.abs(np.einsum("bij,bij->bj", q.conj(), full[..., : q.shape[-1]])),
                np.ones((2, q.shape[-1])), a.dtype)
    k = q.shape[-1]
    ones = np.ones(left.shape)
    assert_near(adjointed[..., :k, :], adjoint(q) @ ones, a.dtype)
    assert_near(right[..., :k], np.swapaxes(ones, -1, -2) @ q, a.dtype)
    assert_near(np.linalg.norm(left, axis=-2), np.linalg.norm(ones, axis=-2), a.dtype)


CASES = {
    "lu": (linalg.lu, check_lu, lambda t: matrices(t, 2, 5, 4)),
    "lu of a wide matrix": (linalg.lu, check_lu, lambda t: matrices(t, 2, 3, 5)),
    "qr": (lambda a: linalg.qr(a, full_matrices=False), check_qr, lambda t: matrices(t, 2, 5, 3)),
    "qr, full": (linalg.qr, check_qr, lambda t: matrices(t, 2, 5, 3)),
    "qr, pivoted": (lambda a: linalg.qr(a, pivoting=True, full_matrices=False), check_pivoted_qr,
                    lambda t: matrices(t, 2, 5, 4)),
    "reflectors": (product_of_reflectors, check_reflectors, lambda t: matrices(t, 2, 5, 3)),
    "cholesky": (linalg.cholesky, check_cholesky, lambda t: definite(t, 5)),
    "eigh": (lambda a: linalg.eigh(a), check_eigh, lambda t: hermitian(t, 5)),
    "eigh of the upper triangle": (
        lambda a: linalg.eigh(jnp.triu(a), lower=False, symmetrize_input=False), check_eigh,
        lambda t: hermitian(t, 5)),
    "svd": (lambda a: jnp.linalg.svd(a), check_svd, lambda t: matrices(t, 2, 5, 3)),
    "svd, thin": (lambda a: jnp.linalg.svd(a, full_matrices=False), check_svd,
                  lambda t: matrices(t, 2, 3, 5)),
    "svd by QR": (lambda a: linalg.svd(a, full_matrices=False, algorithm=linalg.SvdAlgorithm.QR),
                  check_svd, lambda t: matrices(t, 2, 5, 3)),
    "eig": (lambda a: linalg.eig(a), check_eig, lambda t: matrices(t, 2, 5, 5)),
    "schur": (lambda a: linalg.schur(a), check_schur, lambda t: matrices(t, 2, 5, 5)),
    "hessenberg": (linalg.hessenberg, check_hessenberg, lambda t: matrices(t, 2, 5, 5)),
    "tridiagonal": (lambda a: linalg.tridiagonal(a)[1:3], check_tridiagonal, lambda t: hermitian(t, 5)),
    "solve": (lambda a: jnp.linalg.solve(a, jnp.ones((2, 5, 2), a.dtype)),
              lambda a, x: check_solution(a, x, np.ones(x.shape)), lambda t: definite(t, 5)),
    "triangular_solve": (solve_triangular, check_triangular, lambda t: triangle(t, 4)),
    "tridiagonal_solve": (lambda a: linalg.tridiagonal_solve(*bands(a)), check_bands,
                          lambda t: matrices(t, 2, 6, 6)),
    "tridiagonal_solve, perturbed": (
        lambda a: linalg.tridiagonal_solve(*bands(a), perturb_singular=True), check_bands,
        lambda t: matrices(t, 2, 6, 6)),
}


def parts(x):
    return (jnp.real(x), jnp.imag(x)) if jnp.iscomplexobj(x) else (x,)


def whole(arrays, dtype):
    """What `parts` took apart."""
    return arrays[0] + 1j * arrays[1] if np.issubdtype(dtype, np.complexfloating) else arrays[0]


def run_cases(folder, function, arrays, platform="cpu"):
    """The results of `function` on each of the arrays, by one program of octavo's."""
    def program(inputs):
        given = [lax.complex(*x) if len(x) == 2 else x[0] for x in inputs]
        return [[parts(y) for y in jax.tree.leaves(function(x))] for x in given]

    inputs = [tuple(np.asarray(p) for p in parts(x)) for x in arrays]
    lowered = jax.jit(program).trace(inputs).lower(lowering_platforms=(platform,))
    flat = [array for x in inputs for array in x]
    found = iter(run(folder, lowered.as_text(), *flat))
    shapes = jax.eval_shape(program, inputs)
    return [[whole([next(found) for _ in y], np.complex64 if len(y) == 2 else np.float32)
             for y in one] for one in shapes]


@pytest.mark.parametrize("name", CASES)
def test_lapack(name, tmp_path):
    function, check, make = CASES[name]
    with jax.enable_x64(True):
        arrays = [make(dtype) for dtype in TYPES]
        for array, results in zip(arrays, run_cases(tmp_path, function, arrays)):
            check(array, *results)


def test_names_for_every_platform(tmp_path):
    """Qr, ProductOfElementaryHouseholderReflectors, LuDecomposition and Eigh, as JAX writes them for
    a platform of its own."""
    for function, check, array in [
            (lambda a: linalg.qr(a, full_matrices=False), check_qr, matrices(np.float32, 2, 5, 3)),
            (linalg.lu, check_lu, matrices(np.float32, 2, 5, 4)),
            (linalg.eigh, check_eigh, hermitian(np.float32, 5))]:
        folder = tmp_path / check.__name__
        folder.mkdir()
        [results] = run_cases(folder, function, [array], platform="tpu")
        check(array, *results)


KEPT = ["cholesky_lapack_potrf", "eigh_lapack_syev", "hessenberg_lapack_gehrd",
        "lu_lapack_getrf", "qr_lapack_geqrf", "schur_lapack_gees", "svd_lapack_gesdd",
        "tridiagonal_lapack_sytrd_hetrd", "tridiagonal_solve_lapack_gtsv"]
UNIQUE = {"cholesky_lapack_potrf", "lu_lapack_getrf", "tridiagonal_solve_lapack_gtsv", "hessenberg_lapack_gehrd", "qr_lapack_geqrf"}


@pytest.mark.parametrize("name", KEPT)
def test_programs_that_jax_keeps(name, tmp_path):
    """Artifacts of earlier versions: every one runs; those with one right answer give what XLA
    gave."""
    module = importlib.import_module(f"jax._src.internal_test_util.export_back_compat_test_data.cpu_{name}")
    [kept] = [value for key, value in vars(module).items() if key.startswith("data_")]
    case = kept["f32"]
    path = tmp_path / "program.mlir.bc"
    path.write_bytes(case["mlir_module_serialized"])
    command = [OCTAVO, "run", path, "--output", tmp_path / "out"]
    for i, array in enumerate(case["inputs"]):
        np.save(tmp_path / f"in{i}.npy", array)
        command += ["--input", tmp_path / f"in{i}.npy"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    files = sorted((tmp_path / "out").iterdir(), key=lambda file: (len(file.name), file.name))
    assert len(files) == len(case["expected_outputs"])
    for file, expected in zip(files, case["expected_outputs"]):
        found = np.load(file)
        assert found.shape == expected.shape and np.isfinite(found).all()
        if name in UNIQUE:
            assert_near(found, expected, np.float32, 200)


@pytest.mark.parametrize("name, data", [("cuda_threefry2x32", "data_2024_07_30"),
                                        ("cuda_lu_pivots_to_permutation", "data_2025_04_01")])
def test_calls_for_gpus(name, data, tmp_path):
    """Random bits, and the permutation that pivots make, against the results that JAX keeps."""
    module = importlib.import_module(f"jax._src.internal_test_util.export_back_compat_test_data.{name}")
    case = getattr(module, data)
    (tmp_path / "program.mlir.bc").write_bytes(case["mlir_module_serialized"])
    command = [OCTAVO, "run", tmp_path / "program.mlir.bc", "--output", tmp_path / "out.npy"]
    for i, array in enumerate(case["inputs"]):
        np.save(tmp_path / f"in{i}.npy", array)
        command += ["--input", tmp_path / f"in{i}.npy"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert np.array_equal(np.load(tmp_path / "out.npy"), case["expected_outputs"][0])


def test_expm_and_sqrtm(tmp_path):
    """Whole functions of jax.scipy.linalg on top of the calls, beside SciPy's."""
    scipy = pytest.importorskip("scipy.linalg")
    a = matrices(np.float32, 4, 4) / 2
    a = a @ a.T
    [[e, root]] = run_cases(tmp_path, lambda x: (jax.scipy.linalg.expm(x), jax.scipy.linalg.sqrtm(x)), [a])
    assert_near(e, scipy.expm(a.astype(np.float64)), np.float32, 200)
    assert_near(root @ root, a, np.float32, 200)


def test_singular_and_not_definite(tmp_path):
    """info is what JAX turns into NaN: no factor of a matrix that is not definite, a solution of a
    singular tridiagonal matrix by its perturbed pivots that is finite."""
    a = np.stack([np.eye(3), -np.eye(3)]).astype(np.float32)
    singular = np.zeros((1, 4, 4), np.float32) - 2 * np.eye(4, dtype=np.float32)

    def program(x):
        return linalg.cholesky(x)

    [[l]] = run_cases(tmp_path, program, [a])
    assert np.array_equal(l[0], np.eye(3)) and np.isnan(l[1][np.tril_indices(3)]).all()
    folder = tmp_path / "perturbed"
    folder.mkdir()
    [[x]] = run_cases(folder, lambda s: linalg.tridiagonal_solve(*bands(s), perturb_singular=True), [singular])
    assert np.isfinite(x).all()


def topk_reference(x, k, largest=True):
    order = np.argsort(-x if largest else x, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


def test_approximate_top_k_is_exact(tmp_path):
    x = matrices(np.float32, 3, 40)
    for name, function, reference in [
            ("max", lambda y: lax.approx_max_k(y, 5), topk_reference(x, 5)),
            ("min", lambda y: lax.approx_min_k(y, 5), topk_reference(x, 5, largest=False)),
            ("axis", lambda y: lax.approx_max_k(y, 2, reduction_dimension=0),
             tuple(z.T for z in topk_reference(x.T, 2)))]:
        folder = tmp_path / name
        folder.mkdir()
        [[values, indices]] = run_cases(folder, function, [x])
        assert np.array_equal(values, reference[0]) and np.array_equal(indices, reference[1])


@pytest.mark.parametrize("call, expected", [
    ('@mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = false}}', False),
    ('@mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}}', True),
    ('@TopK(%x)', True),
])
def test_top_k_by_other_names(call, expected, tmp_path):
    x = matrices(np.float32, 3, 7)
    program = ("func.func @main(%x: tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {\n"
               f"  %v, %i = stablehlo.custom_call {call} : (tensor<3x7xf32>) -> "
               "(tensor<3x2xf32>, tensor<3x2xi32>)\n"
               "  return %v, %i : tensor<3x2xf32>, tensor<3x2xi32>\n}")
    values, indices = run(tmp_path, program, x)
    reference = topk_reference(x, 2, expected)
    assert np.array_equal(values, reference[0]) and np.array_equal(indices, reference[1])


@pytest.mark.parametrize("line, message", [
    ("@lapack_sgetrf_ffi(%x) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>, tensor<i32>)",
     r"'lapack_sgetrf_ffi' takes elements of f32; found tensor<3x3xf64>"),
    ("@lapack_dgetrf_ffi(%x) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<2xi32>, tensor<i32>)",
     r"result 1 is tensor<2xi32>; its axis 0 must be 3 long"),
    ("@lapack_dgetrf_ffi(%x) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>)",
     r"takes 1 operands and gives 3 results; found 1 and 2"),
    ("@lapack_dpotrf_ffi(%x) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>)",
     r"has no 'uplo' in its configuration"),
    ("@lapack_dpotrf_ffi(%x) {mhlo.backend_config = {uplo = 88 : ui8}} : (tensor<3x3xf64>) -> "
     "(tensor<3x3xf64>, tensor<i32>)", r"has a 'uplo' of 88; expected the code of one of the letters LU"),
    ("@lapack_dgetrx_ffi(%x) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>, tensor<i32>)",
     r"does not know the target 'lapack_dgetrx_ffi', called on \(tensor<3x3xf64>\); did you mean "
     r".*lapack_dgetrf_ffi"),
    ("@ApproxTopK(%x) : (tensor<3x3xf64>) -> (tensor<3x1xf64>)", r"'ApproxTopK' takes tensors, an initial"),
])
def test_calls_that_do_not_fit_are_refused(line, message, tmp_path):
    results = line.rsplit("->", 1)[1].strip()
    count = results.count("tensor<")
    names = ", ".join(f"%r{i}" for i in range(count))
    path = tmp_path / "program.mlir"
    path.write_text(f"func.func @main(%x: tensor<3x3xf64>) {{\n  {names} = stablehlo.custom_call {line}\n"
                    "  return\n}")
    np.save(tmp_path / "x.npy", np.eye(3))
    ended = subprocess.run([OCTAVO, "run", path, "--input", tmp_path / "x.npy", "--backend", "reference"],
                           capture_output=True, text=True, timeout=60)
    assert ended.returncode == 3
    assert re.search(message, ended.stderr), ended.stderr
