"""Commands that read a checkpoint in the layout that they are told, and in the one that its dtypes say."""
import json

import numpy as np
import pytest

import checkpoints as cp
from checkpoints import UP
from commands import as_json, octavo, write


@pytest.fixture
def folders(tmp_path):
    """DeepSeek's tensors under a configuration that says nothing, and what they are of."""
    checkpoint = cp.deepseek()
    written = write(tmp_path, "written", checkpoint)
    del checkpoint.config["quantization_config"]
    checkpoint.tensors["stray.weight_scale_inv"] = np.ones((1, 1), np.float32)  # so that they fit no layout
    octavo("dequantize", written, "-o", tmp_path / "plain")
    return write(tmp_path, "mute", checkpoint), written, tmp_path / "plain"


def test_inspect_and_lint(folders):
    mute, _, _ = folders
    assert as_json("inspect", mute)["layout"] == "plain"
    inspected = as_json("inspect", mute, "--from", "deepseek")
    assert (inspected["layout"], inspected["formats"][0]["layers"]) == ("deepseek", 14)
    octavo("inspect", mute, "--tensor", UP, "--from", "deepseek")
    octavo("inspect", mute, "--tensor", UP, code=3)
    linted = json.loads(octavo("lint", mute, "--from", "deepseek", "--fail-on", "never", "--json").stdout)
    assert (linted["layout"], linted["quantized_layers"]) == ("deepseek", 14)
    assert "orphan-scale" in {finding["rule"] for finding in linted["findings"]}


def test_diff_verify_and_report(folders, tmp_path):
    mute, written, plain = folders
    sides = as_json("diff", mute, written, "--from", "deepseek", code=1)
    assert sides["counts"]["identical"] == 19 and sides["counts"]["only_in_the_first"] == 1
    sides = as_json("diff", written, mute, "--against-from", "deepseek", code=1)
    assert sides["counts"]["identical"] == 19 and sides["counts"]["only_in_the_second"] == 1
    promises = {each["promise"]: each for each in as_json("verify", mute, "--against", plain, "--from", "deepseek",
                                                         code=1)["promises"]}
    assert promises["quantized-within-format"] | {"statement": 0} == {
        "promise": "quantized-within-format", "statement": 0, "kept": True, "checked": 14, "broken": []}
    promises = {each["promise"]: each for each in as_json("verify", plain, "--against", mute, "--against-from",
                                                         "deepseek", code=1)["promises"]}
    assert promises["dequantized-exactly"]["checked"] == 14
    report = as_json("report", mute, "--against", plain, "--from", "deepseek")
    assert len(report["layers"]) == 14 and all(each["difference"]["rms"] < 0.05 for each in report["layers"])
    octavo("report", plain, "--against", mute, "--against-from", "deepseek", "-o", tmp_path / "page.html")


@pytest.mark.parametrize("command", ["inspect", "lint", "verify", "diff", "report"])
def test_a_layout_that_does_not_exist(folders, command):
    mute, written, _ = folders
    more = {"verify": ["--against", written], "diff": [written], "report": ["--json"]}.get(command, [])
    error = octavo(command, mute, *more, "--from", "deepsek", code=2).stderr
    assert 'no layout "deepsek"; did you mean deepseek?' in error


@pytest.mark.parametrize("method", [None, "mxfp4", "compressed-tensors", "quark"])
def test_native_elements_are_known_by_their_dtypes(tmp_path, method):
    checkpoint = cp.plain_checkpoint()
    values = {name: cp.E2M1_VALUES[cp.to_e2m1(tensor.astype(np.float32)) & 7] * np.sign(tensor.astype(np.float32))
              for name, tensor in checkpoint.tensors.items() if cp.is_linear(name)}
    cp.store_natively(checkpoint)
    if method:
        checkpoint.config["quantization_config"] = {"quant_method": method}
    folder = write(tmp_path, "native", checkpoint)
    inspected = as_json("inspect", folder)
    assert (inspected["layout"], inspected["formats"][0]["format"]) == ("native", "mxfp4")
    octavo("dequantize", folder, "-o", tmp_path / "out", "--dtype", "f32")
    for shard in sorted((tmp_path / "out").glob("*.safetensors")):
        for name, tensor in cp.read_safetensors(shard).items():
            if name in values:
                assert np.array_equal(np.abs(tensor), np.abs(values[name])), name
    findings = as_json("lint", folder, "--fail-on", "never")["findings"]
    assert ("configuration-mismatch" in {finding["rule"] for finding in findings}) == (method is not None)


def test_a_copy_in_another_shard_does_not_make_an_index_wrong(tmp_path):
    """The tensor is in both shards, and the index names the second."""
    checkpoint = cp.autofp8()
    folder = write(tmp_path, "model", checkpoint)
    second = cp.Checkpoint.shard_name(1, 2)
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    for i in range(2):
        shard = folder / cp.Checkpoint.shard_name(i, 2)
        cp.write_safetensors(shard, cp.read_safetensors(shard)
                             | {"lm_head.weight": checkpoint.tensors["lm_head.weight"]})
    index["weight_map"]["lm_head.weight"] = second
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    rules = {finding["rule"] for finding in as_json("lint", folder, "--fail-on", "never")["findings"]}
    assert "duplicate-tensor" in rules and "misplaced-tensor" not in rules


def test_layers_are_listed_as_people_count(tmp_path):
    tensors = {f"model.layers.{i}.mlp.up_proj.weight": np.ones((32, 32), np.float32) * (i + 1) for i in range(12)}
    a = write(tmp_path, "a", cp.Checkpoint(tensors, {}))
    b = write(tmp_path, "b", cp.Checkpoint({name: tensor * 2 for name, tensor in tensors.items()}, {}))
    for output, code in ((octavo("diff", a, b, code=1), 1), (octavo("verify", a, "--against", b, "--all", code=1), 1)):
        numbers = [int(line.split("layers.")[1].split(".")[0]) for line in output.stdout.splitlines()
                   if "layers." in line]
        assert numbers == list(range(12)), output.stdout
