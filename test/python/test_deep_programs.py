"""Programs, in text and as artifacts, that nest deeper than a stack is, are refused, whatever hides the depth from a reader that is not MLIR's."""

import subprocess

import numpy as np
import pytest
from commands import OCTAVO
from deep_programs import HIDDEN, N, PROGRAM, TEXTS, aliases, attribute, with_text
from jaxlib.mlir.dialects import stablehlo

pytestmark = pytest.mark.mlir


def run(*arguments):
    return subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("name", TEXTS)
def test_text_that_is_too_deep_is_refused(tmp_path, name):
    (tmp_path / "p.mlir").write_text(TEXTS[name])
    for command in ("run",), ("convert", "-o", tmp_path / "q.mlir"):
        ended = run(command[0], tmp_path / "p.mlir", *command[1:])
        assert ended.returncode == 3, (ended.returncode, ended.stderr[:500])
        assert ended.stderr.startswith("octavo: error: ") and "p.mlir:" in ended.stderr
        assert "octavo reads" in ended.stderr or "stands for more than" in ended.stderr or "does not read" in ended.stderr


def test_what_is_within_the_limits_is_read_and_written(tmp_path):
    deep = 2400
    texts = [attribute("[" * deep + "]" * deep), attribute("tuple<" * deep + "f32" + ">" * deep),
             aliases("#", "[", "]", deep - 2), aliases("!", "tuple<", ">", deep - 2),
             attribute("affine_map<(d0) -> (d0" + " + d0 floordiv 3" * 500 + ")>"),
             attribute("#unknown.a<x // plain words\n>")]
    for text in texts:
        (tmp_path / "p.mlir").write_text(text)
        ended = run("convert", tmp_path / "p.mlir", "-o", tmp_path / "q.mlir")
        assert ended.returncode == 0, (text[:60], ended.returncode, ended.stderr[:500])


@pytest.mark.parametrize("name", HIDDEN)
def test_artifacts_whose_text_is_too_deep_are_refused(tmp_path, name):
    data = stablehlo.serialize_portable_artifact_str(PROGRAM, "1.17.0")
    _, count = with_text(data, -1, b"")
    for which in (0, 1, count // 2, count - 1):
        (tmp_path / "p.mlirbc").write_bytes(with_text(data, which, HIDDEN[name])[0])
        ended = run("run", tmp_path / "p.mlirbc")
        assert ended.returncode == 3 and "the file is damaged: an attribute or type in MLIR's text that " in ended.stderr, \
            (which, ended.returncode, ended.stderr[:500])


JSON = """func.func @main() -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<1.0> : tensor<2x32xf8E4M3FN>
  %y = stablehlo.constant dense<0.5> : tensor<3x32xf8E4M3FN>
  %s = stablehlo.constant dense<2.0> : tensor<2x1xf8E8M0FNU>
  %t = stablehlo.constant dense<1.0> : tensor<3x1xf8E8M0FNU>
  %0 = stablehlo.custom_call @__op$block_scaled_dot(%x, %y, %s, %t) {backend_config = "TEXT"} : (tensor<2x32xf8E4M3FN>, tensor<3x32xf8E4M3FN>, tensor<2x1xf8E8M0FNU>, tensor<3x1xf8E8M0FNU>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""


def test_configurations_that_nest(tmp_path):
    """The configuration of a custom call is text within text, and JSON: what nests too deep says nothing."""
    for text in ("", "[" * N, r'{\22a\22: ' * N, r"[\22\\\22, " + "[" * N):
        (tmp_path / "p.mlir").write_text(JSON.replace("TEXT", text))
        for options in ([], ["--backend", "reference"], ["--recover-scaled"]):
            ended = run("run", tmp_path / "p.mlir", "--output", tmp_path / "out.npy", *options)
            assert ended.returncode == 0, (ended.returncode, ended.stderr[:300])
            assert (np.load(tmp_path / "out.npy") == 32).all()  # 32 * 1 * 2 * 0.5
