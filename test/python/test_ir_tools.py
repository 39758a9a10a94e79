"""The everyday tools of IR: octavo-lsp-server as an editor speaks to it, and programs of several
functions."""

import json
import subprocess

import numpy as np
import pytest

from test_run import OCTAVO, assert_has, npy, octavo, save, write

pytestmark = pytest.mark.mlir

PROGRAM = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


class Editor:
    """One session with the server: JSON-RPC, each message under its length."""

    def __init__(self):
        self.server = subprocess.Popen([OCTAVO.parent / "octavo-lsp-server"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.count = 0
        self.request("initialize", processId=None, rootUri=None, capabilities={})

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.server.stdout.readline().strip()):
            if line.startswith(b"Content-Length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.server.stdout.read(length))

    def notify(self, method, **params):
        self.send(method=method, params=params)

    def request(self, method, **params):
        self.count += 1
        self.send(id=self.count, method=method, params=params)
        while (answer := self.receive()).get("id") != self.count:
            pass
        return answer["result"]

    def diagnostics(self, text):
        self.notify("textDocument/didOpen", textDocument={
            "uri": "file:///p.mlir", "languageId": "mlir", "version": 1, "text": text})
        while (message := self.receive()).get("method") != "textDocument/publishDiagnostics":
            pass
        return message["params"]["diagnostics"]

    def end(self):
        self.request("shutdown")
        self.notify("exit")
        return self.server.wait(timeout=30)


def test_the_language_server():
    editor = Editor()
    assert editor.diagnostics(PROGRAM) == []
    at = {"textDocument": {"uri": "file:///p.mlir"}, "position": {"line": 1, "character": 10}}
    assert "stablehlo.add" in editor.request("textDocument/hover", **at)["contents"]["value"]
    use = {"textDocument": {"uri": "file:///p.mlir"}, "position": {"line": 2, "character": 10}}
    assert editor.request("textDocument/definition", **use)[0]["range"]["start"]["line"] == 1
    found = editor.diagnostics(PROGRAM.replace("-> tensor<2xf32> {", "-> tensor<3xf32> {"))
    assert any("doesn't match function result type" in each["message"] for each in found), found
    assert editor.end() == 0


# Two public functions with a private one, each of two results.
SEVERAL = """
func.func private @pair(%x: tensor<2x32xf32>, %w: tensor<4x32xf32>) -> (tensor<2x4xf32>, tensor<2x32xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<2x32xf32>, tensor<4x32xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.negate %x : tensor<2x32xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x32xf32>
}
func.func @encode(%x: tensor<2x32xf32> {octavo.name = "x"}, %w: tensor<4x32xf32> {octavo.name = "w", octavo.parameter})
    -> (tensor<2x4xf32> {octavo.name = "product"}, tensor<2x32xf32> {octavo.name = "negative"}) {
  %0:2 = call @pair(%x, %w) : (tensor<2x32xf32>, tensor<4x32xf32>) -> (tensor<2x4xf32>, tensor<2x32xf32>)
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<2x32xf32>
}
func.func @twice(%x: tensor<2x32xf32> {octavo.name = "x"}, %w: tensor<4x32xf32> {octavo.name = "w", octavo.parameter})
    -> tensor<2x4xf32> {
  %0:2 = call @pair(%x, %w) : (tensor<2x32xf32>, tensor<4x32xf32>) -> (tensor<2x4xf32>, tensor<2x32xf32>)
  %1 = stablehlo.add %0#0, %0#0 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
"""


@pytest.fixture
def several(tmp_path):
    random = np.random.default_rng(0)
    x, w = random.normal(size=(2, 32)).astype("f4"), random.normal(size=(4, 32)).astype("f4")
    npy(tmp_path / "x.npy", x)
    save(tmp_path / "w.safetensors", w=w)
    return write(tmp_path / "p.mlir", SEVERAL), x, w


def run(program, *options, code=0):
    folder = program.parent
    return octavo("run", program, "--input", folder / "x.npy", "--weights", folder / "w.safetensors",
                  "--output", folder / "out", *options, code=code)


def test_functions_are_run_by_name(several):
    program, x, w = several
    out = program.parent / "out"
    run(program, "--function", "encode")
    np.testing.assert_allclose(np.load(out / "product.npy"), x @ w.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(np.load(out / "negative.npy"), -x)
    run(program, "--function", "twice")
    np.testing.assert_allclose(np.load(out / "output0.npy"), 2 * (x @ w.T), rtol=1e-5, atol=1e-5)
    assert_has(run(program, code=3), "no function @main and 2 public ones", "--function", "encode", "twice")
    assert_has(run(program, "--function", "encoder", code=3), "did you mean encode?")


def test_private_functions_are_run_by_name(several):
    program, x, w = several
    folder = program.parent
    npy(folder / "w.npy", w)
    octavo("run", program, "--function", "pair", "--input", folder / "x.npy", "--input", folder / "w.npy",
           "--output", folder / "out")
    np.testing.assert_allclose(np.load(folder / "out/output0.npy"), x @ w.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(np.load(folder / "out/output1.npy"), -x)


def test_all_functions_are_quantized(several):
    program, x, w = several
    quantized = program.parent / "q.mlir"
    assert "1 of 1 dots quantized" in octavo("quantize", program, "--format", "mxfp8_e4m3", "-o", quantized)
    for function, factor, name in (("encode", 1, "product"), ("twice", 2, "output0")):
        for options in ([quantized], [program, "--quantize", "mxfp8_e4m3"]):
            run(*options, "--function", function)
            found = np.load(program.parent / "out" / f"{name}.npy")
            expected = factor * (x @ w.T)
            relative = np.linalg.norm(found - expected) / np.linalg.norm(expected)
            assert 0 < relative < 0.1
