"""What `octavo run` says of times, and what it does not write twice; what is no program is named."""

import json
import re
import zipfile

import numpy as np
import pytest
from program_commands import octavo
from safetensors.numpy import save_file

pytestmark = pytest.mark.mlir

PROGRAM = """
func.func @main(%x: tensor<8x64xf32> {octavo.name = "x"}, %w: tensor<64x64xf32> {octavo.name = "w", octavo.parameter})
    -> (tensor<8x64xf32> {octavo.name = "y"}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = stablehlo.tanh %0 : tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "p.mlir").write_text(PROGRAM)
    random = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", random.standard_normal((8, 64)).astype(np.float32))
    save_file({"w": random.standard_normal((64, 64)).astype(np.float32)}, tmp_path / "w.safetensors")
    return tmp_path


GIVEN = ["run", "p.mlir", "--weights", "w.safetensors", "--input", "x.npy"]


def half(printed):
    """Half a unit of the last digit of a number."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


@pytest.mark.parametrize("more", [["--quantize", "mxfp4"], ["--quantize", "mxfp4", "--compare", "f32"],
                                  ["--drop-scales"], ["--quantize", "mxint8", "--compare", "reference"]])
def test_what_quantization_costs_has_an_answer(folder, more):
    text = octavo(*GIVEN, *more, "--repeat", "5", cwd=folder)
    [own] = re.findall(r"^time .*; 5 runs more: median ([0-9.]+) s", text, re.M)
    [f32, times] = re.findall(r"^  f32 .*; 5 runs more: median ([0-9.]+) s, .*; the median run takes ([0-9.e+-]+) "
                              r"times as long as f32's$", text, re.M)[0]
    # Both medians are printed rounded: their quotient lies between the quotients of what they may have been.
    least, most = ((float(own) + sign * half(own)) / (float(f32) - sign * half(f32)) for sign in (-1, 1))
    assert least * 0.99 <= float(times) <= most * 1.01
    report = json.loads(octavo(*GIVEN, *more, "--repeat", "5", "--json", cwd=folder))
    assert len(report["seconds"]["repeated"]) == len(report["f32_seconds"]["repeated"]) == 5
    assert "\n  f32 " not in octavo(*GIVEN, "--repeat", "5", cwd=folder)


def test_a_dump_is_of_the_program_that_runs(folder):
    """The program as it is, which it is compared with, is not dumped over it."""
    octavo(*GIVEN, "--quantize", "mxfp4", "--dump", "alone", cwd=folder)
    octavo(*GIVEN, "--quantize", "mxfp4", "--compare", "f32", "--dump", "compared", cwd=folder)
    for name in ("1-after-passes.mlir", "2-steps.txt"):
        assert (folder / "alone" / name).read_text() == (folder / "compared" / name).read_text()
    assert "f4E2M1FN" in (folder / "compared/1-after-passes.mlir").read_text()


def test_a_dump_is_the_same_from_the_cache(folder, monkeypatch):
    monkeypatch.setenv("OCTAVO_CACHE_DIR", str(folder / "cache"))
    for more in ([], ["--quantize", "mxfp4"]):
        dumps = []
        for turn in ("first", "second"):
            place = folder / f"{turn}{len(more)}"
            octavo(*GIVEN, *more, "--dump", place, cwd=folder)
            dumps.append({path.relative_to(place): path.read_text() for path in sorted(place.rglob("*")) if path.is_file()})
        assert dumps[0] == dumps[1] and len(dumps[0]) >= 3


# ir_version, producer_name, graph and opset_import of an ONNX model (onnx.proto), in protobuf's encoding.
ONNX = b"\x08\x0a\x12\x07pytorch\x3a\x03\x12\x01g\x42\x02\x10\x15"


def archive(path, *names):
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(name, b"\0" * 40)


@pytest.mark.parametrize("command", [["run"], ["quantize", "--format", "mxfp4"], ["explain"],
                                     ["compile", "-o", "made"], ["convert", "-o", "made.mlir"],
                                     ["tune", "--budget", "max <= 1", "-o", "r.json"],
                                     ["calibrate", "--inputs", "x.npy", "-o", "c.json"]], ids=lambda command: command[0])
def test_what_is_no_program_is_named_with_the_way_in(folder, command):
    (folder / "m.onnx").write_bytes(ONNX)
    archive(folder / "m.pt2", "m/archive_format", "m/models/model.json")
    archive(folder / "m.pt", "m/code/__torch__.py", "m/constants.pkl", "m/data.pkl")
    archive(folder / "m.pth", "m/data.pkl", "m/data/0")
    (folder / "old.pth").write_bytes(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.")
    (folder / "model").mkdir()
    save_file({"w": np.zeros((2, 2), np.float32)}, folder / "model/model.safetensors")
    (folder / "model/config.json").write_text("{}")
    for name, words in {"m.onnx": ["is an ONNX model", "jax.export"],
                        "m.pt2": ["torch.export", "export_and_import"],
                        "m.pt": ["is TorchScript", "export_and_import"],
                        "m.pth": ["torch.save", "--weights"], "old.pth": ["pickle", "--weights"],
                        "w.safetensors": ["is a file of weights", "--weights"],
                        "x.npy": ["is an array", "--input"],
                        "model": ["is a checkpoint, not a program", "octavo checkpoint quantize model"]}.items():
        said = octavo(command[0], name, *command[1:], code=3, cwd=folder)
        assert said.startswith(f"octavo: error: {name}: ") and all(word in said for word in words), said
    assert not (folder / "made").exists() and not (folder / "r.json").exists()
