"""What `octavo run` shows of a compiled program: --profile, --dump, --compare reference."""
import json
import os
import pathlib
import subprocess
import timeit

import numpy as np
import pytest

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
# A product with a kernel as its epilogue, the loop with another one in each of its 3 turns (and the kernel of its
# condition in 4). So few rows are one range.
PROGRAM = """
func.func @main(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x64xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32> loc("first/dot")
  %t = stablehlo.tanh %p : tensor<16x64xf32> loc("first/tanh")
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %t) : tensor<i32>, tensor<16x64xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %q = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32> loc("loop/dot")
      %z = stablehlo.negate %q : tensor<16x64xf32> loc("loop/negate")
      stablehlo.return %j, %z : tensor<i32>, tensor<16x64xf32>
    }
  return %r#1 : tensor<16x64xf32>
}
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "p.mlir").write_text(PROGRAM)
    np.save(tmp_path / "x.npy", np.eye(16, 64, dtype=np.float32))
    np.save(tmp_path / "w.npy", np.eye(64, dtype=np.float32))

    def call(*options):
        return subprocess.run([OCTAVO, "run", "p.mlir", "--input", "x.npy", "--input", "w.npy", *options],
                              cwd=tmp_path, capture_output=True, text=True)
    return call


def test_a_profile_has_each_step_as_often_as_it_ran(run, tmp_path):
    ended = run("--profile", "trace.json")
    assert ended.returncode == 0, ended.stderr
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    steps = [e for e in events if e["ph"] == "X" and "args" in e]
    times = {name: sum(e["name"] == name for e in steps)
             for name in ("first/dot", "first/tanh", "stablehlo.while", "loop/dot", "loop/negate", "stablehlo.compare")}
    assert times == {"first/dot": 1, "first/tanh": 1, "stablehlo.while": 1, "loop/dot": 3, "loop/negate": 3,
                     "stablehlo.compare": 4}
    (dot,) = (e for e in steps if e["name"] == "first/dot")
    assert dot["cat"] == "product" and dot["args"]["bytes"] == (64 + 2 * 16) * 64 * 4
    assert np.isclose(dot["args"]["Gop/s"], 2 * 16 * 64**2 / dot["dur"] / 1e3, rtol=0.01)
    (loop,) = (e for e in steps if e["cat"] == "loop")
    inner = [e for e in steps if e["name"].startswith("loop/")]
    assert all(loop["ts"] <= e["ts"] and e["ts"] + e["dur"] <= loop["ts"] + loop["dur"] + 1e-3 for e in inner)
    # Epilogues run within their products.
    for product, kernel in (("first/dot", "first/tanh"), ("loop/dot", "loop/negate")):
        spans = [sorted((e["ts"], e["ts"] + e["dur"]) for e in steps if e["name"] == name) for name in (product, kernel)]
        assert all(a <= c and d <= b + 1e-3 for (a, b), (c, d) in zip(*spans, strict=True))
    assert dot["args"]["detail"] == "f32 x f32, and its epilogue"
    rows = [line.split() for line in ended.stdout.splitlines()]
    (product,) = (row for row in rows if row[-1:] == ["product"])
    assert product[3] == "4"


def test_a_profile_has_each_step_beside_the_limits_of_the_machine(run, tmp_path):
    ended = run("--profile", "trace.json", "--json")
    assert ended.returncode == 0, ended.stderr
    trace = json.loads((tmp_path / "trace.json").read_text())
    limits = trace["otherData"]["profile"]["limits"]
    assert 0 < limits["seconds"] and limits["threads"] <= (os.cpu_count() or 1)
    levels = limits["memory"]
    assert levels[-1]["name"] == "memory" and levels[-1]["bytes"] is None
    held = [level["bytes"] for level in levels[:-1]]
    assert held == sorted(held) and all(level["GB/s"] > 0 for level in levels)
    # NumPy's product needs the same instructions.
    if limits["Gop/s"]["f32"]:
        square = np.ones((512, 512), np.float32)
        least = min(timeit.repeat(lambda: square @ square, number=1, repeat=20))
        assert 2 * 512**3 / least / 1e9 < 1.5 * limits["Gop/s"]["f32"] * (os.cpu_count() or 1) / limits["threads"]
        assert limits["Gop/s"]["bf16"] >= limits["Gop/s"]["f32"]

    def expected(size, operations, part=False):
        level = next(each for each in levels
                     if each["bytes"] is None or size <= each["bytes"] or (part and each["name"] == "L2"))
        bound = [(size / level["GB/s"] / 1e3, level["name"])]
        if operations and limits["Gop/s"]["f32"]:
            bound.append((operations / limits["Gop/s"]["f32"] / 1e3, "f32"))
        return max(bound)

    steps = [e for e in trace["traceEvents"] if e["ph"] == "X" and "args" in e]
    for name, size, operations, part in (("first/dot", (64 + 2 * 16) * 64 * 4, 2 * 16 * 64**2, False),
                                         ("first/tanh", 2 * 16 * 64 * 4, 0, True)):
        (step,) = (e for e in steps if e["name"] == name)
        time, what = expected(size, operations, part)
        assert step["args"]["limit"] == what
        assert np.isclose(step["args"]["limit_us"], time, rtol=1e-6)
        assert np.isclose(step["args"]["of_limit"], time / step["dur"], rtol=1e-6)
    (loop,) = (e for e in steps if e["cat"] == "loop")
    assert "limit" not in loop["args"]
    profile = json.loads(ended.stdout)["profile"]
    assert profile == trace["otherData"]["profile"]
    bounded = [step["args"]["limit_us"] for step in steps if "limit" in step["args"]]
    assert np.isclose(profile["limit_seconds"], sum(bounded) / 1e6, rtol=1e-6)
    kinds = {kind["kind"]: kind for kind in profile["kinds"]}
    assert np.isclose(sum(kind["seconds"] for kind in kinds.values()) + profile["between_seconds"], profile["seconds"])
    assert kinds["product"]["times"] == 4 and kinds["product"]["operations"] == 4 * 2 * 16 * 64**2
    assert np.isclose(kinds["product"]["limit_seconds"], 4 * expected((64 + 2 * 16) * 64 * 4, 2 * 16 * 64**2)[0] / 1e6)
    assert kinds["loop"]["limit_seconds"] is None
    (dot,) = (step for step in profile["steps"] if step["source"] == "loop/dot")
    assert dot["times"] == 3 and dot["limit"] == expected((64 + 2 * 16) * 64 * 4, 2 * 16 * 64**2)[1]
    assert sorted(step["seconds"] for step in profile["steps"])[::-1] == [step["seconds"] for step in profile["steps"]]


def test_a_profile_is_printed_with_the_limits(run):
    ended = run("--profile", "trace.json")
    lines = ended.stdout.splitlines()
    assert any(line.startswith("limits     ") and "in f32" in line and "from memory" in line for line in lines)
    (roofline,) = (line for line in lines if line.startswith("roofline   "))
    least, _, rest = roofline[len("roofline   "):].partition(" ms at the limits of its steps, ")
    (whole,) = (line.split()[4] for line in lines if line.startswith("profile    "))
    # Both are rounded to microseconds.
    least, whole, percent = float(least), float(whole), float(rest.split(" % ")[0])
    assert 100 * (least - 6e-4) / (whole + 6e-4) - 0.51 < percent < 100 * (least + 6e-4) / (whole - 6e-4) + 0.51
    assert any(line.split()[:7] == ["ms", "share", "times", "Gop/s", "GB/s", "limit", "of"] for line in lines)


def test_a_program_that_is_interpreted_has_no_profile(run, tmp_path):
    ended = run("--profile", "trace.json", "--backend", "reference")
    assert ended.returncode == 3 and "interpreted as a whole: the backend is the interpreter" in ended.stderr
    assert not (tmp_path / "trace.json").exists()


def test_a_dump_has_every_stage(run, tmp_path):
    ended = run("--dump", "stages", "--output", "y.npy")
    assert ended.returncode == 0, ended.stderr
    files = sorted(str(path.relative_to(tmp_path / "stages")) for path in (tmp_path / "stages").rglob("*.*"))
    kernels = sorted({name[len("3-kernels/"):][:3] for name in files if name.startswith("3-kernels/")})
    assert files == ["1-after-passes.mlir", "2-steps.txt", *sorted(
        f"3-kernels/{kernel}{end}" for kernel in kernels for end in (".ll", "-optimized.ll", ".s"))]
    # tanh; compare; add; negate. The sizes are the same of none but the two of one element.
    assert len(kernels) == 4
    steps = (tmp_path / "stages/2-steps.txt").read_text().splitlines()
    inside = steps.index(next(line for line in steps if line.startswith("loop")))
    assert any("tanh" in line for line in steps[:inside])
    assert any("product: f32 x f32" in line for line in steps[inside:])
    # What the product gives the kernel: a row of 64 f32.
    assert any(line.endswith(": in a chain at 0, 256 bytes a row") for line in steps)
    # It is a program: what is dumped runs, and gives the same.
    again = subprocess.run([OCTAVO, "run", "stages/1-after-passes.mlir", "--input", "x.npy", "--input", "w.npy",
                            "--output", "z.npy"], cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.load(tmp_path / "z.npy"))
    optimized = [(tmp_path / f"stages/3-kernels/{kernel}-optimized.ll").read_text() for kernel in kernels]
    assert all("define" in text for text in optimized)
    assert all(".globl" in (tmp_path / f"stages/3-kernels/{kernel}.s").read_text() for kernel in kernels)


def test_a_dump_that_cannot_be_written_is_an_error(run, tmp_path):
    (tmp_path / "stages").write_text("a file")
    ended = run("--dump", "stages")
    assert ended.returncode == 3 and "stages" in ended.stderr, ended.stderr


SUMS = """
func.func @main(%x: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.negate %x : tensor<1000xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<1000xf32>
  %d = stablehlo.divide %e, %b : tensor<1000xf32>
  return %e, %d : tensor<1000xf32>, tensor<1000xf32>
}
"""


@pytest.fixture
def compared(tmp_path):
    """A sum of large numbers that cancel: another order gives another sum, which the quotients pass on."""
    (tmp_path / "p.mlir").write_text(SUMS)
    x = np.random.default_rng(3).normal(0, 1000, 1000).astype(np.float32)
    np.save(tmp_path / "x.npy", x)

    def call(*options):
        return subprocess.run([OCTAVO, "run", "p.mlir", "--input", "x.npy", "--compare", "reference",
                               "--output", "found", *options], cwd=tmp_path, capture_output=True, text=True)
    return call


def test_outputs_are_compared_with_the_reference(compared, tmp_path):
    ended = compared("--json")
    assert ended.returncode == 0, ended.stderr
    same, apart = (output["reference"] for output in json.loads(ended.stdout)["outputs"])
    assert same["max"] == 0 and same["ulps"] == 0 and same["ulps_index"] == []
    subprocess.run([OCTAVO, "run", "p.mlir", "--input", "x.npy", "--backend", "reference", "--output", "wanted"],
                   cwd=tmp_path, check=True, capture_output=True)
    found, wanted = (np.load(tmp_path / folder / "output1.npy") for folder in ("found", "wanted"))
    ulps = np.abs(found.view(np.int32).astype(np.int64) - wanted.view(np.int32))
    assert ulps.max() > 2
    assert apart["ulps"] == ulps.max() and apart["ulps_index"] == [int(ulps.argmax())]
    assert apart["max"] == np.abs(found.astype(np.float64) - wanted).max()


def test_bisect_names_the_sum_and_not_what_uses_it(compared):
    ended = compared("--bisect")
    assert ended.returncode == 0, ended.stderr
    assert "p.mlir:5:8: 'stablehlo.reduce' is the first beyond 2 ulp" in ended.stdout
    ended = compared("--bisect", "--bound", "1e9")
    assert ended.returncode == 0 and "no operation by itself is beyond 1000000000 ulp" in ended.stdout


def test_a_bound_that_does_not_hold_is_a_failed_check(compared):
    ended = compared("--bound", "2")
    assert ended.returncode == 1 and "output output1 is" in ended.stderr, ended.stderr
    ended = subprocess.run([OCTAVO, "run", "p.mlir", "--bound", "2"], capture_output=True, text=True)
    assert ended.returncode == 2 and "need --compare reference" in ended.stderr
