"""octavo-recover-scaled on programs of several devices, as JAX lowers them: codes and scales go from process
to process in the place of wide values, and jax.nn.scaled_matmul is a product of scaled tensors."""
import json
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from scaled_programs import explain, run

pytestmark = pytest.mark.mlir


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    path = tmp_path_factory.mktemp("spmd") / "programs.pickle"
    subprocess.run([sys.executable, pathlib.Path(__file__).with_name("scaled_spmd_programs.py"), path], check=True, timeout=300)
    return pickle.loads(path.read_bytes())


def recovered(folder, text):
    before, after = folder / "before.mlir", folder / "after.mlir"
    before.write_text(text)
    return before, after, json.loads(explain(before, "--json", "-o", after).stdout)


# What each moves: codes with their scales, or alone.
EXCHANGES = {
    "all_gather": "tensor<2x64xf8E4M3FN>, tensor<2x1xf32>",
    "all_gather of blocks": "tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU>",
    "all_gather of columns": "tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU>",
    "all_gather of a constant scale": "tensor<2x64xf8E4M3FN>",
    "all_gather of a scale a device": "tensor<2x64xf8E4M3FN>, tensor<1x1xf32>",
    "all_to_all": "tensor<2x64xf8E4M3FN>, tensor<2x4xf32>",  # a row's scale to each device that gets a part of it
    "ppermute": "tensor<2x64xf8E4M3FN>",
}


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("form", EXCHANGES)
def test_codes_and_scales_move(tmp_path, programs, form, backend):
    q, found, _ = programs
    text, scales, expected = found[form]
    before, after, told = recovered(tmp_path, text)
    assert (told["narrow"], told["missed"], told["wide"]) == (1, 0, 0), told
    moved = re.findall(r'"stablehlo\.(?:all_gather|all_to_all|collective_permute)".*: \((.*)\) ->', after.read_text())
    assert moved[0] == EXCHANGES[form], moved
    assert len(moved) == (2 if form == "ppermute" else 1) and not any("64xf32" in each for each in moved), moved
    for path in (before, after):
        np.testing.assert_array_equal(run(path, [q, scales], tmp_path, "--backend", backend), expected)


def test_blocks_that_are_cut_are_told(tmp_path, programs):
    _, found, _ = programs
    _, _, told = recovered(tmp_path, found["all_to_all within blocks"][0])
    assert told["missed"] == 1 and told["dots"][0]["obstacle"] == "stablehlo.all_to_all", told
    assert told["dots"][0]["remedy"] == "give each process whole blocks"


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("form", ["shard_map", "jit"])
def test_scaled_matmul(tmp_path, programs, form, backend):
    _, _, (parts, texts) = programs
    before, after, told = recovered(tmp_path, texts[form])
    assert (told["narrow"], told["missed"], told["wide"]) == (1, 0, 0), told
    assert told["dots"][0]["lhs"] == "f8E4M3FN by f8E8M0FNU, block [1, 1, 32]" and "custom_call" not in after.read_text()
    a, b, s, t = (each.astype(np.float32) for each in parts)
    expected = np.einsum("bmk,bnk->bmn", a * np.repeat(s, 32, 2), b * np.repeat(t, 32, 2))
    for path in (before, after) if form == "shard_map" else (after,):  # a partitioner's call is a pointer into Python
        np.testing.assert_array_equal(run(path, parts, tmp_path, "--backend", backend), expected)


@pytest.mark.parametrize("rule", [
    "([i, j, k], [i, l, k], [i, j, k], [i, l, k])->([i, j, l]) {i=2, j=4, k=2, l=6}",  # not the caller's own
    "([i, j, k], [i, l, k], [i, j, k], [i, l, m])->([i, j, l]) {i=2, j=4, k=2, l=6, m=2}, custom",
])
def test_another_partitioned_call_is_left(tmp_path, programs, rule):
    _, _, (_, texts) = programs
    text = re.sub(r"op_sharding_rule<.*?}(, custom)?>", f"op_sharding_rule<{rule}>", texts["jit"])
    assert rule in text
    _, after, told = recovered(tmp_path, text)
    assert told["dots"] == [] and "CustomSPMDPartitioning" in after.read_text()
