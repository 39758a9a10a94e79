"""rsqrt of f64: compiled code has the interpreter's bits (rule C1), which are the exact value rounded once (I1)."""
import mpmath
import numpy as np
import pytest
from test_compiled import outputs

pytestmark = pytest.mark.mlir


def test_reciprocal_roots_of_f64(tmp_path):
    random = np.random.default_rng(1)
    x = np.concatenate([random.uniform(1, 4, 3000), 2.0 ** random.uniform(-1074, 1023, 1000),
                        [np.finfo(np.float64).max, 0.0, -0.0, 5e-324, 2.0**-1022, np.inf, -1.0, np.nan]])
    (tmp_path / "p.mlir").write_text(f"""func.func @main(%x: tensor<{len(x)}xf64>) -> tensor<{len(x)}xf64> {{
  %0 = stablehlo.rsqrt %x : tensor<{len(x)}xf64>
  return %0 : tensor<{len(x)}xf64>
}}
""")
    compiled, reference = (outputs(tmp_path / "p.mlir", [x], tmp_path, backend)[0]
                           for backend in ("compiled", "reference"))
    isnan = np.isnan(reference)
    assert (np.isnan(compiled) == isnan).all() and isnan.sum() == 2
    assert (compiled[~isnan].view(np.uint64) == reference[~isnan].view(np.uint64)).all()
    exact = []
    for value in x[:-7]:
        with mpmath.workprec(300):
            root = 1 / mpmath.sqrt(mpmath.mpf(float(value)))
        with mpmath.workprec(53):
            exact.append(float(+root))
    assert (reference[:-7] == exact).all()
    assert reference[-7:-2].tolist() == [np.inf, -np.inf, 2.0**537, 2.0**511, 0]
