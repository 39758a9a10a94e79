"""A pattern that finds nothing is one that is misspelt: --match and --exclude say so on every
command that has them, and so do Python's arguments."""

import numpy as np
import pytest
from program_commands import octavo
from safetensors.numpy import save_file

pytestmark = pytest.mark.mlir

PROGRAM = """
func.func @main(%x: tensor<4x64xf32> {octavo.name = "x"},
                %a: tensor<64x64xf32> {octavo.name = "params['attention']['kernel']", octavo.parameter},
                %b: tensor<64x64xf32> {octavo.name = "params['output']['kernel']"}) -> tensor<4x64xf32> {
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0]
      : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32> loc("net/attention/dot")
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]
      : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32> loc("net/output/dot")
  return %1 : tensor<4x64xf32>
}"""
COMMANDS = {
    "quantize": ["--format", "mxfp4"],
    "run": ["--quantize", "mxfp4", "--weights", "w.safetensors", "--input", "x.npy"],
    "compile": ["--quantize", "mxfp4", "--weights", "w.safetensors", "-o", "folder"],
    "tune": ["--budget", "relative <= 0.5", "-o", "r.json", "--formats", "mxfp4", "--weights", "w.safetensors",
             "--input", "x.npy"],
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "p.mlir").write_text(PROGRAM)
    np.save(tmp_path / "x.npy", np.ones((4, 64), np.float32))
    save_file({f"params['{name}']['kernel']": np.eye(64, dtype=np.float32) for name in ("attention", "output")},
              tmp_path / "w.safetensors")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--match", "--exclude"])
def test_a_typo_is_an_error_with_names_near_it(folder, command, option):
    said = octavo(command, "p.mlir", *COMMANDS[command], option, "atention", code=3, cwd=folder)
    assert f'{option[2:]}: "atention" is found in the name of no dot and of no dot\'s weight; near it: attention' in said
    assert not (folder / "folder").exists() and not (folder / "r.json").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pattern_that_finds_something_is_none(folder, command):
    for pattern in ("attention", "kernel", "^net/.*/dot$"):
        octavo(command, "p.mlir", *COMMANDS[command], "--match", pattern, cwd=folder)
    octavo(command, "p.mlir", *COMMANDS[command], "--exclude", "output", cwd=folder)


def test_python_says_so(folder):
    import octavo as module

    weights = {f"params['{name}']['kernel']": np.eye(64, dtype=np.float32) for name in ("attention", "output")}
    for wrong in ({"match": "atention"}, {"exclude": "atention"}):
        with pytest.raises(module.ProgramError, match="near it: attention"):
            module.compile(folder / "p.mlir", weights=weights, quantize="mxfp4", **wrong)
        with pytest.raises(module.ProgramError, match="near it: attention"):
            module.tune(folder / "p.mlir", {"x": np.ones((4, 64), np.float32)}, budget="relative <= 0.5",
                        weights=weights, formats=["mxfp4"], **wrong)
