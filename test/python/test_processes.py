"""Programs that several processes run together: octavo beside XLA's CPU backend on four devices, and
what the command line gives to each process and takes from it."""

import os
import pickle
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from test_reference import OCTAVO

pytestmark = pytest.mark.mlir

pytest.importorskip("jax", reason="JAX writes the programs")
import spmd_programs  # noqa: E402


def octavo(*arguments, **kwargs):
    return subprocess.run([OCTAVO, "run", *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, **kwargs)


@pytest.fixture(scope="module")
def spread(tmp_path_factory):
    """The input of all programs, and by name each program's text and result."""
    path = tmp_path_factory.mktemp("spmd") / "programs.pickle"
    subprocess.run([sys.executable, spmd_programs.__file__, path], check=True, timeout=300)
    return pickle.loads(path.read_bytes())


def program_of_one_device(text):
    """The body of the program's only sdy.manual_computation as a function: what each device runs."""
    begin = re.search(r"sdy\.manual_computation\(.*?\) in_shardings=.*? manual_axes=\{\"i\"\} \((.*)\) \{\n",
                      text)
    end = re.search(r"\n *sdy\.return (.*) : (.*)\n", text)
    functions = re.findall(r"  func\.func private .*?\n  \}\n", text, re.S)
    return (
        "module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
        f"func.func @main({begin[1]}) -> ({end[2]}) {{\n"
        + text[begin.end():end.start()] + f"\nreturn {end[1]} : {end[2]}\n}}\n" + "".join(functions) + "}\n")


@pytest.mark.parametrize("name", spmd_programs.PROGRAMS)
def test_as_xla_on_four_devices(name, spread, tmp_path):
    x, programs = spread
    text, expected = programs[name]
    (tmp_path / "program.mlir").write_text(program_of_one_device(text))
    for process, shard in enumerate(np.split(x, 4)):
        np.save(tmp_path / f"x-{process}.npy", shard)
    ended = octavo(tmp_path / "program.mlir", "--input", tmp_path / "x-{process}.npy", "--output",
                   tmp_path / "y-{process}.npy")
    assert ended.returncode == 0, ended.stderr
    found = np.concatenate([np.load(tmp_path / f"y-{process}.npy") for process in range(4)])
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


TWO = "module attributes {mhlo.num_partitions = 2 : i32} {\n%s\n}\n"
ADD_ID = TWO % """
func.func @main(%x: tensor<2xui32>, %w: tensor<ui32>) -> (tensor<2xui32>, tensor<ui32>) {
  %p = stablehlo.partition_id : tensor<ui32>
  %b = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<ui32>) -> tensor<2xui32>
  %y = stablehlo.add %x, %b : tensor<2xui32>
  %z = stablehlo.add %p, %w : tensor<ui32>
  return %y, %z : tensor<2xui32>, tensor<ui32>
}"""


@pytest.fixture
def two(tmp_path):
    (tmp_path / "two.mlir").write_text(ADD_ID)
    np.save(tmp_path / "w.npy", np.uint32(100))
    for process in range(2):
        np.save(tmp_path / f"x{process}.npy", np.array([10, 20], np.uint32) * (process + 1))
    return tmp_path


def test_files_of_each_process(two):
    """A path with {process} is another file for each; one without is for all."""
    ended = octavo(two / "two.mlir", "--input", "x{process}.npy", "--input", "w.npy", "--output",
                   "out{process}", "--json", cwd=two)
    assert ended.returncode == 0, ended.stderr
    for process in range(2):
        first, second = (np.load(two / f"out{process}" / f"output{i}.npy") for i in range(2))
        assert np.array_equal(first, np.array([10, 20]) * (process + 1) + process)
        assert second == 100 + process
    import json
    outputs = json.loads(ended.stdout)["outputs"]
    assert [(o["process"], o["name"]) for o in outputs] == [
        (0, "output0"), (0, "output1"), (1, "output0"), (1, "output1")]


@pytest.mark.parametrize("output, exists, message", [
    ("out.safetensors", False, r"--output out.safetensors: 2 processes have outputs of their own; write "
                               r"\{process\}"),
    ("out{process}.npy", True, r"out0.npy: a .npy file holds one array"),
])
def test_outputs_that_would_be_one(two, output, exists, message):
    ended = octavo(two / "two.mlir", "--input", "x{process}.npy", "--input", "w.npy", "--output", output,
                   cwd=two)
    assert ended.returncode in (2, 3) and re.search(message, ended.stderr), ended.stderr
    assert not list(two.glob("out*"))


def test_a_file_that_one_process_lacks(two):
    (two / "x1.npy").unlink()
    ended = octavo(two / "two.mlir", "--input", "x{process}.npy", "--input", "w.npy", cwd=two)
    assert ended.returncode == 3 and "x1.npy" in ended.stderr


INFEED = """func.func @main() -> (tensor<2xf32>, tensor<i32>, tensor<2xf32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %a:3 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xf32>, tensor<i32>, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#2) : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %a#0, %a#1, %b#0 : tensor<2xf32>, tensor<i32>, tensor<2xf32>
}"""


def test_infeed(tmp_path):
    (tmp_path / "program.mlir").write_text(INFEED)
    np.save(tmp_path / "a.npy", np.array([1, 2], np.float32))
    np.save(tmp_path / "n.npy", np.int32(7))
    np.save(tmp_path / "b.npy", np.array([3, 4], np.float32))
    ended = octavo("program.mlir", "--infeed", "a.npy,n.npy", "--infeed", "b.npy", "--output", "out",
                   cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert [np.load(tmp_path / "out" / f"output{i}.npy").tolist() for i in range(3)] == [[1, 2], 7, [3, 4]]
    for given, message in [
            (["--infeed", "a.npy,n.npy"], r"program.mlir:4:10: 'stablehlo.infeed': nothing is left"),
            (["--infeed", "a.npy"], r"'stablehlo.infeed': takes 2 tensors at a time; it was given 1"),
            (["--infeed", "n.npy,n.npy"], r"'stablehlo.infeed': result: .*tensor<2xf32>"),
            (["--infeed", "none.npy"], r"none.npy")]:
        ended = octavo("program.mlir", *given, cwd=tmp_path)
        assert ended.returncode == 3 and re.search(message, ended.stderr), ended.stderr


def test_infeed_of_each_process(tmp_path):
    (tmp_path / "program.mlir").write_text(TWO % """
func.func @main() -> (tensor<f32>, tensor<ui32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %p = stablehlo.partition_id : tensor<ui32>
  %a:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  return %a#0, %p : tensor<f32>, tensor<ui32>
}""")
    for process in range(2):
        np.save(tmp_path / f"feed{process}.npy", np.float32(process + 0.5))
    ended = octavo("program.mlir", "--infeed", "feed{process}.npy", "--output", "out{process}", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert [float(np.load(tmp_path / f"out{p}" / "output0.npy")) for p in range(2)] == [0.5, 1.5]


ENDLESS = """func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %r = stablehlo.while(%i = %x) : tensor<i32>
    cond {
      %t = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n : tensor<i32>
    }
  return %r : tensor<i32>
}"""
ENDLESS_TOGETHER = ENDLESS.replace("%n = stablehlo.add %i, %one : tensor<i32>", """%n = "stablehlo.all_reduce"(%i) ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %s = stablehlo.add %a, %b : tensor<i32>
          stablehlo.return %s : tensor<i32>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<i32>) -> tensor<i32>""")


def interrupted(arguments, folder, after):
    """What a run that gets Ctrl-C so many seconds after its start writes to stderr: it ends soon."""
    process = subprocess.Popen([OCTAVO, "run", *arguments], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    time.sleep(after)
    assert process.poll() is None
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    took = time.monotonic() - begun
    assert process.returncode == 130
    assert took < 2, took  # 0.2 s on a machine that has nothing else to do
    return errors


@pytest.mark.parametrize("text", [ENDLESS, TWO % ENDLESS_TOGETHER], ids=["alone", "two processes"])
def test_ctrl_c_ends_a_loop_and_says_where(text, tmp_path):
    (tmp_path / "program.mlir").write_text(text)
    np.save(tmp_path / "x.npy", np.int32(1))
    errors = interrupted(["program.mlir", "--input", "x.npy"], tmp_path, 1)
    assert re.search(r"program\.mlir:\d+:\d+: '[a-z_.]+': interrupted here, in @main", errors), errors


LONG = {
    "dot": """func.func @main(%x: tensor<i32>) -> tensor<6000x6000xf64> {
  %a = stablehlo.constant dense<1.5> : tensor<6000x6000xf64>
  %r = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<6000x6000xf64>, tensor<6000x6000xf64>) -> tensor<6000x6000xf64>
  return %r : tensor<6000x6000xf64>
}""",
    "cholesky": """func.func @main(%x: tensor<i32>) -> tensor<6000x6000xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %i = stablehlo.iota dim = 0 : tensor<6000x6000xi32>
  %j = stablehlo.iota dim = 1 : tensor<6000x6000xi32>
  %e = stablehlo.compare EQ, %i, %j : (tensor<6000x6000xi32>, tensor<6000x6000xi32>) -> tensor<6000x6000xi1>
  %d = stablehlo.convert %e : (tensor<6000x6000xi1>) -> tensor<6000x6000xf32>
  %r = stablehlo.cholesky %d, lower = true : tensor<6000x6000xf32>
  return %r : tensor<6000x6000xf32>
}""",
    "reduce": """func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %i = stablehlo.iota dim = 0 : tensor<60000000xi32>
  %r = "stablehlo.reduce"(%i, %x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      %d = stablehlo.xor %c, %a : tensor<i32>
      stablehlo.return %d : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<60000000xi32>, tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}""",
}


@pytest.mark.parametrize("operation", LONG)
def test_ctrl_c_within_one_long_operation(operation, tmp_path):
    """Nothing looks for Ctrl-C within the loops: the process ends while the operation goes on."""
    (tmp_path / "program.mlir").write_text(LONG[operation])
    np.save(tmp_path / "x.npy", np.int32(1))
    arguments = ["program.mlir", "--input", "x.npy", "--output", "out", "--backend", "reference"]
    errors = interrupted(arguments, tmp_path, 1.5)
    assert re.search(r"^octavo: error: program\.mlir:\d+:\d+: '[a-z_.]+': interrupted here, in @main$",
                     errors.strip()), errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["program.mlir", "x.npy"]


PROBED = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %n = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<2xf32>
    cond {
      %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %p = interpreter.probe %y, probe_id = "loop" : tensor<2xf32>
      %z = stablehlo.add %p, %p : tensor<2xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %z : tensor<i32>, tensor<2xf32>
    }
  %b = stablehlo.convert %r#1 : (tensor<2xf32>) -> tensor<2xbf16>
  %q = interpreter.probe %b, probe_id = "narrow" : tensor<2xbf16>
  check.expect_serialized_eq %x, probe_id = "loop" : tensor<2xf32>
  check.expect_serialized_eq %q, probe_id = "narrow", iter = 0 : tensor<2xbf16>
  %two = stablehlo.add %x, %x : tensor<2xf32>
  check.expect_serialized_eq %two, probe_id = "loop", iter = 1 : tensor<2xf32>
  interpreter.print %r#1 : tensor<2xf32>
  return %r#1 : tensor<2xf32>
}"""


def test_probes_and_print(tmp_path):
    (tmp_path / "program.mlir").write_text(PROBED)
    np.save(tmp_path / "x.npy", np.array([1, -3], np.float32))
    ended = octavo("program.mlir", "--input", "x.npy", "--probes", "probes", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "probes" / "index.csv").read_text().splitlines() == [
        "loop,tensor<2xf32>,probes/probe1.npy", "loop,tensor<2xf32>,probes/probe2.npy",
        "narrow,tensor<2xbf16>,probes/probe3.npy"]
    files = [np.load(tmp_path / "probes" / f"probe{i}.npy") for i in (1, 2, 3)]
    assert files[0].tolist() == [1, -3] and files[1].tolist() == [2, -6]
    assert files[2].tolist() == [0x4080, 0xC140]  # the codes of 4 and -12
    assert "= tensor<2xf32> {\n  [4, -12]\n}\n" in ended.stdout
    # Another run begins anew.
    octavo("program.mlir", "--input", "x.npy", "--probes", "probes", cwd=tmp_path)
    assert len((tmp_path / "probes" / "index.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("old, new, arguments, code, message", [
    ("", "", [], 3, r"'interpreter.probe': has nowhere to write to; `octavo run --probes FOLDER`"),
    ("iter = 1", "iter = 2", ["--probes", "p"], 3, r"the probe 'loop' has come 2 times so far; iteration 2"),
    ('probe_id = "loop" : tensor<2xf32>\n  check', 'probe_id = "narrow" : tensor<2xf32>\n  check',
     ["--probes", "p"], 3, r"the probe 'narrow' left tensor<2xbf16>; expected tensor<2xf32>"),
    ("%two = stablehlo.add %x, %x", "%two = stablehlo.subtract %x, %x", ["--probes", "p"], 1,
     r"check.expect_serialized_eq in @main at \[0\]: expected 0 \(0x0\), found 2"),
    ("", "", ["--probes", "program.mlir/p"], 3, r"cannot be made a folder for probes"),
])
def test_probes_that_fail(old, new, arguments, code, message, tmp_path):
    (tmp_path / "program.mlir").write_text(PROBED.replace(old, new) if old else PROBED)
    np.save(tmp_path / "x.npy", np.array([1, -3], np.float32))
    ended = octavo("program.mlir", "--input", "x.npy", *arguments, cwd=tmp_path)
    assert ended.returncode == code and re.search(message, ended.stderr + ended.stdout), ended.stderr


def test_hundred_thousand_operations(tmp_path):
    lines = ["func.func @main(%v0: tensor<4xf32>) -> tensor<4xf32> {"]
    lines += [f"  %v{i + 1} = stablehlo.add %v{i}, %v0 : tensor<4xf32>" for i in range(100_000)]
    lines += ["  return %v100000 : tensor<4xf32>", "}"]
    (tmp_path / "program.mlir").write_text("\n".join(lines))
    np.save(tmp_path / "x.npy", np.ones(4, np.float32))
    ended = octavo("program.mlir", "--input", "x.npy", "--output", "y.npy", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.full(4, 100_001, np.float32))


@pytest.mark.parametrize("text, message", [
    # 2^62 elements of f32: 2^64 bytes.
    ("""func.func @main() -> tensor<2147483648x2147483648xf32> {
  %x = stablehlo.iota dim = 0 : tensor<2147483648x2147483648xf32>
  return %x : tensor<2147483648x2147483648xf32>
}""", r"program.mlir:2:8: 'stablehlo.iota': .*\[2147483648, 2147483648\] has more elements"),
    # The product wraps to 0 in 64 bits.
    ("""func.func @main() -> tensor<4294967296x4294967296xi8> {
  %x = stablehlo.iota dim = 0 : tensor<4294967296x4294967296xi8>
  return %x : tensor<4294967296x4294967296xi8>
}""", r"program.mlir:2:8: .*'stablehlo.iota' .*tensor<4294967296x4294967296xi8>"),
    # As many elements as the interpreter holds, of 16 bytes each.
    ("""func.func @main() -> tensor<4096x1048576xcomplex<f64>> {
  %y = stablehlo.constant dense<(1.0, 0.0)> : tensor<4096x1048576xcomplex<f64>>
  return %y : tensor<4096x1048576xcomplex<f64>>
}""", r"program.mlir:2:8: 'stablehlo.constant': .* takes 68.7 GB; this machine has .* of memory"),
    ("""func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = func.call @other(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func private @other(%x: tensor<f32>) -> tensor<f32> {
  %y = func.call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}""", r"is the program recursive\?"),
], ids=["overflow", "wraps to nothing", "beyond memory", "recursion"])
def test_what_no_machine_holds_is_refused(text, message, tmp_path):
    (tmp_path / "program.mlir").write_text(text)
    arguments = []
    if "68.7 GB" in message and os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") > 68e9:
        pytest.skip("this machine has as much memory")
    if "%x: tensor<f32>" in text:
        np.save(tmp_path / "x.npy", np.float32(1))
        arguments = ["--input", "x.npy"]
    begun = time.monotonic()
    ended = octavo("program.mlir", *arguments, cwd=tmp_path)
    assert ended.returncode == 3, (ended.returncode, ended.stderr)
    assert re.search(message, ended.stderr), ended.stderr
    assert time.monotonic() - begun < 20
