"""chlo.scan, beside NumPy. JAX 0.10.2 prints none."""
import numpy as np
import pytest
from accuracy import legalized
from test_reference import integers, run

pytestmark = pytest.mark.mlir


@pytest.fixture(params=["direct", "legalized"])
def form(request):
    """What becomes of a program before it is run."""
    return str if request.param == "direct" else lambda text: legalized(text.replace("?", "4"))


@pytest.mark.parametrize("is_reverse", [False, True])
def test_running_sums_along_an_axis(tmp_path, form, is_reverse):
    x = integers(-9, 9, 2, 5, 3).astype(np.float32)
    init = integers(-9, 9, 2, 3).astype(np.float32)
    y, total = run(tmp_path, form(f"""func.func @main(%x: tensor<2x5x3xf32>, %c: tensor<2x3xf32>)
        -> (tensor<2x5x3xf32>, tensor<2x3xf32>) {{
      %y, %t = chlo.scan(%x) inits (%c) dimension=1 attributes {{is_reverse = {str(is_reverse).lower()}}} {{
      ^bb0(%input: tensor<2x3xf32>, %carry: tensor<2x3xf32>):
        %s = stablehlo.add %input, %carry : tensor<2x3xf32>
        stablehlo.return %s, %s : tensor<2x3xf32>, tensor<2x3xf32>
      }} : (tensor<2x5x3xf32>, tensor<2x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>)
      return %y, %t : tensor<2x5x3xf32>, tensor<2x3xf32> }}"""), x, init)
    forward = x[:, ::-1] if is_reverse else x
    sums = init[:, None] + np.cumsum(forward, axis=1)
    np.testing.assert_array_equal(y, sums[:, ::-1] if is_reverse else sums)
    np.testing.assert_array_equal(total, sums[:, -1])


def test_several_inputs_outputs_and_carries(tmp_path, form):
    x, k = integers(-9, 9, 4).astype(np.float32), integers(-9, 9, 4, 2)
    outputs = run(tmp_path, form("""func.func @main(%x: tensor<?xf32>, %k: tensor<?x2xi32>, %c: tensor<f32>, %d: tensor<2xi32>)
        -> (tensor<?xf32>, tensor<?x2xi32>, tensor<f32>, tensor<2xi32>) {
      %0:4 = chlo.scan(%x, %k) inits (%c, %d) dimension=0 {
      ^bb0(%a: tensor<f32>, %b: tensor<2xi32>, %p: tensor<f32>, %q: tensor<2xi32>):
        %m = stablehlo.maximum %a, %p : tensor<f32>
        %s = stablehlo.subtract %q, %b : tensor<2xi32>
        stablehlo.return %m, %q, %m, %s : tensor<f32>, tensor<2xi32>, tensor<f32>, tensor<2xi32>
      } : (tensor<?xf32>, tensor<?x2xi32>, tensor<f32>, tensor<2xi32>)
          -> (tensor<?xf32>, tensor<?x2xi32>, tensor<f32>, tensor<2xi32>)
      return %0#0, %0#1, %0#2, %0#3 : tensor<?xf32>, tensor<?x2xi32>, tensor<f32>, tensor<2xi32> }"""),
                  x, k, np.float32(-20), np.zeros(2, np.int32))
    sums = np.cumsum(np.vstack([np.zeros((1, 2), np.int32), -k]), axis=0)
    for found, expected in zip(outputs, (np.maximum.accumulate(x), sums[:-1], x.max(), sums[-1]), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("steps", [0, 4])
def test_without_inputs(tmp_path, form, steps):
    y, last = run(tmp_path, form(f"""func.func @main(%c: tensor<2xf32>) -> (tensor<{steps}x2xf32>, tensor<2xf32>) {{
      %y, %l = chlo.scan() inits (%c) dimension=0 attributes {{scan_dim_size = {steps} : i64}} {{
      ^bb0(%carry: tensor<2xf32>):
        %s = stablehlo.add %carry, %carry : tensor<2xf32>
        stablehlo.return %carry, %s : tensor<2xf32>, tensor<2xf32>
      }} : (tensor<2xf32>) -> (tensor<{steps}x2xf32>, tensor<2xf32>)
      return %y, %l : tensor<{steps}x2xf32>, tensor<2xf32> }}"""), np.array([1, 3], np.float32))
    powers = 2.0 ** np.arange(steps)[:, None] * np.array([1, 3])
    np.testing.assert_array_equal(y, powers)
    np.testing.assert_array_equal(last, 2.0**steps * np.array([1, 3]))
