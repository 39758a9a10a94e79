"""`octavo checkpoint inspect`, `scales`, `diff` on small checkpoints whose every value is
known from NumPy and ml_dtypes; and the commands of docs/checkpoints.md."""
import json
import os
import pathlib
import shlex
import subprocess

import numpy as np
import pytest

import checkpoints as cp
from checkpoints import DOWN, KV0, KV1, UP
from commands import OCTAVO, as_json, bytes_of, dequantized, octavo, tensors_of, write

DOCS = pathlib.Path(__file__).parents[2] / "docs"


# inspect

def test_inspect_counts_what_was_written(tmp_path):
    checkpoint = cp.compressed_nvfp4()
    folder = write(tmp_path, "model", checkpoint)
    report = as_json("inspect", folder)
    assert (report["layout"], report["shards"]) == ("compressed-tensors", 2)
    packed = [t for n, t in checkpoint.tensors.items() if n.endswith("weight_packed")]
    scales = [t for n, t in checkpoint.tensors.items() if n.endswith("weight_scale")]
    (use,) = report["formats"]
    assert use["format"] == "nvfp4" and use["layers"] == len(packed)
    assert use["weights"] == 2 * sum(t.size for t in packed)
    assert use["code_bytes"] == sum(t.size for t in packed)
    assert use["scale_bytes"] == sum(t.size for t in scales) + 4 * len(packed)
    assert use["bits_per_weight"] == pytest.approx(
        8 * (use["code_bytes"] + use["scale_bytes"]) / use["weights"])
    assert report["bytes"] == sum(t.nbytes for t in checkpoint.tensors.values())
    values = np.concatenate([t.astype(np.float32).ravel() for t in scales])
    assert use["scales"]["smallest"] == values.min() and use["scales"]["largest"] == values.max()
    exponents, counts = np.unique(np.floor(np.log2(values)).astype(int), return_counts=True)
    assert [(b["exponent"], b["count"]) for b in use["scales"]["histogram"]] == list(
        zip(exponents.tolist(), counts.tolist()))
    text = octavo("inspect", folder, "--scales").stdout
    assert "nvfp4" in text and "2^" in text and "#" in text


def test_inspect_one_name(tmp_path):
    checkpoint = cp.compressed_nvfp4()
    folder = write(tmp_path, "model", checkpoint)
    for name in (UP, UP + ".weight", UP + ".weight_global_scale"):
        report = as_json("inspect", folder, "--tensor", name)
        assert report["layer"] == UP and report["shape"] == [128, 64]
        assert report["reading"] == "value = code * weight_scale / weight_global_scale"
        assert {t["role"] for t in report["tensors"]} == {"elements", "scales", "outer scale"}
        codes = report["tensors"][0]["codes"]
        packed = checkpoint.tensors[UP + ".weight_packed"]
        nibbles = np.stack([packed & 15, packed >> 4])
        assert codes["count"] == nibbles.size
        assert codes["at_max"] == (nibbles & 7 == 7).sum()
        assert codes["zero"] == (nibbles & 7 == 0).sum()
    report = as_json("inspect", folder, "--tensor", "lm_head.weight")
    expected = np.abs(checkpoint.tensors["lm_head.weight"].astype(np.float32)).max()
    assert report["tensors"][0]["amax"] == expected
    result = octavo("inspect", folder, "--tensor", "lm_haed.weight", code=3)
    assert "lm_head.weight" in result.stderr


# scales

def test_every_tier_is_said(tmp_path):
    checkpoint = cp.autofp8()
    for name in ("k_scale", "v_scale"):
        del checkpoint.tensors[KV1 + name]
    folder = write(tmp_path, "model", checkpoint)
    side = tmp_path / "side.safetensors"
    cp.write_safetensors(side, {KV0 + "v_scale": np.float32(0.5).reshape(())})
    result = octavo("scales", "show", folder, "--scales", side, "--json")
    scales = {s["name"]: (s["values"], s["tier"]) for s in json.loads(result.stdout)["scales"]}
    assert scales[KV0 + "k_scale"] == ([float(np.float32(0.03))], "checkpoint")
    assert scales[KV0 + "v_scale"] == ([0.5], "file")
    assert scales[KV1 + "k_scale"] == scales[KV1 + "v_scale"] == ([1.0], "default")
    assert scales[UP + ".input_scale"] == ([float(np.float32(0.02))], "checkpoint")
    assert "2 of 18 scales" in result.stderr and "1.0" in result.stderr
    assert "default" in octavo("scales", "show", folder).stdout


@pytest.mark.parametrize("spelled", [("k_proj.k_scale", "v_proj.v_scale"),
                                     ("k_proj.output_scale", "v_proj.output_scale"), ("kv_scale",)])
def test_all_names_are_read(tmp_path, spelled):
    checkpoint = cp.autofp8()
    values = [checkpoint.tensors.pop(KV0 + name) for name in ("k_scale", "v_scale")]
    for name, value in zip(spelled, values):
        checkpoint.tensors[KV0 + name] = value
    folder = write(tmp_path, "model", checkpoint)
    octavo("scales", "extract", folder, "-o", tmp_path / "out.safetensors")
    scales = cp.read_safetensors(tmp_path / "out.safetensors")
    assert scales[KV0 + "k_scale"] == values[0] and scales[KV0 + "k_scale"].dtype == np.float32
    assert scales[KV0 + "v_scale"] == values[1 if len(spelled) == 2 else 0]


def test_the_json_of_old_vllm(tmp_path):
    folder = write(tmp_path, "model", cp.autofp8())
    side = tmp_path / "kv_cache_scales.json"
    result = octavo("scales", "extract", folder, "-o", side, "--ranks", "2")
    assert "larger" in result.stderr
    written = json.loads(side.read_text())
    factors = {str(layer): pytest.approx(0.03) for layer in range(2)}
    assert written == {"model_type": "llama", "kv_cache": {
        "dtype": "float8_e4m3fn", "scaling_factor": {"0": factors, "1": factors}}}
    shown = as_json("scales", "show", folder, "--scales", side)["scales"]
    assert {s["tier"] for s in shown if "self_attn.v_scale" in s["name"]} == {"file"}

    def refused(change, *words):
        broken = json.loads(side.read_text())
        change(broken)
        (tmp_path / "broken.json").write_text(json.dumps(broken))
        error = octavo("scales", "show", folder, "--scales", tmp_path / "broken.json", code=3).stderr
        assert all(word in error for word in words), error
    cache = lambda json: json["kv_cache"]  # noqa: E731
    refused(lambda j: j.pop("kv_cache"), "no kv_cache")
    refused(lambda j: cache(j).update(dtype="float8_e5m2"), "float8_e4m3fn", "float8_e5m2")
    refused(lambda j: cache(j)["scaling_factor"]["0"].pop("0"), "rank 0", "every layer")
    refused(lambda j: cache(j)["scaling_factor"]["1"].update({"0": 0.5}), "rank 1", "different scales")
    refused(lambda j: cache(j)["scaling_factor"].update({"3": {}}), "ranks")
    refused(lambda j: cache(j)["scaling_factor"]["0"].update({"1": -1.0}), "layer 1", "positive")
    refused(lambda j: j.update(model_type="mistral"), "mistral", "llama")
    for rank in "01":
        written["kv_cache"]["scaling_factor"][rank]["2"] = 0.1
    refused(lambda j: j.update(written), "number of layers", "expected 2, found 3")


def test_scales_go_into_the_shards_concerned(tmp_path):
    checkpoint = cp.autofp8()
    for name in ("k_scale", "v_scale"):
        del checkpoint.tensors[KV1 + name]
    checkpoint.shards = 5
    folder = write(tmp_path, "model", checkpoint)
    before, files = tensors_of(folder), bytes_of(folder)
    side = tmp_path / "side.safetensors"
    new = {KV0 + "k_scale": 0.25, KV1 + "k_scale": 0.125, KV1 + "v_scale": 0.0625,
           DOWN + ".input_scale": 0.75}
    cp.write_safetensors(side, {n: np.float32(v).reshape(()) for n, v in new.items()})
    changes = as_json("scales", "apply", folder, "--scales", side, "--into-checkpoint")["changes"]
    kinds = {change["tensor"]: change["change"] for change in changes}
    assert kinds == {KV0 + "k_scale": "replaced", DOWN + ".input_scale": "replaced",
                     KV1 + "k_scale": "added", KV1 + "v_scale": "added"}
    after = tensors_of(folder)
    assert set(after) == set(before) | set(new)
    for name, tensor in after.items():
        if name in new:
            assert tensor == new[name] and tensor.dtype == np.float32
        else:
            assert tensor.dtype == before[name].dtype and tensor.tobytes() == before[name].tobytes()
    untouched = {change["shard"] for change in changes} ^ {
        cp.Checkpoint.shard_name(i, 5) for i in range(5)}
    assert untouched and all((folder / n).read_bytes() == files[n] for n in untouched)
    assert set(bytes_of(folder)) == set(files)
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    assert set(index["weight_map"]) == set(after)
    assert index["metadata"]["total_size"] == sum(t.nbytes for t in after.values())
    octavo("lint", folder, "--ignore", "negative-zero", "--fail-on", "note")
    again = as_json("scales", "apply", folder, "--scales", side, "--into-checkpoint")["changes"]
    assert {change["change"] for change in again} == {"same"}


def test_the_old_name_makes_way(tmp_path):
    checkpoint = cp.autofp8()
    del checkpoint.tensors[KV0 + "v_scale"]
    checkpoint.tensors[KV0 + "kv_scale"] = checkpoint.tensors.pop(KV0 + "k_scale")
    folder = write(tmp_path, "model", checkpoint)
    side = tmp_path / "side.safetensors"
    cp.write_safetensors(side, {KV0 + "k_scale": np.float32(0.25).reshape(())})
    octavo("scales", "apply", folder, "--scales", side, "--into-checkpoint")
    after = tensors_of(folder)
    assert KV0 + "kv_scale" not in after
    assert after[KV0 + "k_scale"] == 0.25 and after[KV0 + "v_scale"] == np.float32(0.03)
    octavo("lint", folder, "--ignore", "negative-zero", "--fail-on", "note")


def test_a_side_file_takes_both(tmp_path):
    folder = write(tmp_path, "model", cp.autofp8())
    files = bytes_of(folder)
    side, out = tmp_path / "side.safetensors", tmp_path / "out.safetensors"
    cp.write_safetensors(side, {KV0 + "k_scale": np.float32(0.25).reshape(())})
    octavo("scales", "apply", folder, "--scales", side, "-o", out)
    scales = cp.read_safetensors(out)
    assert scales[KV0 + "k_scale"] == 0.25 and scales[KV0 + "v_scale"] == np.float32(0.01)
    assert bytes_of(folder) == files


@pytest.mark.parametrize("tensors, words", [
    ({"lm_head.weight": np.ones(1, np.float32)}, ("not a scale file", "lm_head.weight")),
    ({KV0 + "k_scale": np.zeros((), np.float32)}, ("positive", "k_scale")),
    ({KV0 + "k_scale": np.full((), np.nan, np.float32)}, ("nan", "k_scale")),
    ({KV0 + "k_scale": np.full((), -1, np.float32)}, ("positive", "-1")),
    ({KV0 + "k_scale": np.ones((), np.int32)}, ("I32", "F32")),
    ({KV0 + "k_scale": np.ones((), np.uint8)}, ("found none", "k_scale")),
    ({KV0 + "k_scale": np.ones(0, np.float32)}, ("found none", "k_scale")),
    ({KV0.replace("0", "7") + "k_scale": np.ones((), np.float32)}, ("no attention module",)),
    ({"model.nothing.weight_scale": np.ones((), np.float32)}, ("no module",)),
    ({UP + ".input_scale": np.ones(3, np.float32)}, ("does not fit", "[3]")),
])
def test_a_wrong_scale_file_is_refused(tmp_path, tensors, words):
    folder = write(tmp_path, "model", cp.autofp8())
    files = bytes_of(folder)
    side = tmp_path / "side.safetensors"
    cp.write_safetensors(side, tensors)
    error = octavo("scales", "apply", folder, "--scales", side, "--into-checkpoint", code=3).stderr
    assert all(word in error for word in words), error
    assert bytes_of(folder) == files


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf])
@pytest.mark.parametrize("ending", ["safetensors", "json"])
def test_a_scale_that_cannot_be_applied_is_not_extracted(tmp_path, value, ending):
    """Old vLLM used 1.0 for all scales of a JSON with such a one; the other of a layer's two does not hide it."""
    checkpoint = cp.autofp8()
    checkpoint.tensors[KV0 + "k_scale"] = np.full((), value, np.float32)
    folder = write(tmp_path, "model", checkpoint)
    out = tmp_path / f"out.{ending}"
    error = octavo("scales", "extract", folder, "-o", out, code=3).stderr
    for words in (KV0 + "k_scale", "positive", f"found {value}", "scales apply"):
        assert words in error
    assert not out.exists()
    side = tmp_path / "side.safetensors"
    cp.write_safetensors(side, {KV0 + "k_scale": np.float32(0.25).reshape(())})
    octavo("scales", "apply", folder, "--scales", side, "-o", tmp_path / "both.safetensors")


def scale_file(path, **values):
    cp.write_safetensors(path, {KV0 + name: np.float32(v).reshape(()) for name, v in values.items()})
    return path


def test_two_values_for_one_scale_are_refused(tmp_path):
    folder = write(tmp_path, "model", cp.autofp8())
    files = bytes_of(folder)
    side = scale_file(tmp_path / "side.safetensors", **{"k_scale": 0.5, "k_proj.k_scale": 0.25})
    for more in (["show"], ["apply", "--into-checkpoint"], ["apply", "-o", tmp_path / "out.safetensors"]):
        error = octavo("scales", more[0], folder, "--scales", side, *more[1:], code=3).stderr
        assert all(words in error for words in ("0.5", "0.25", "k_proj.k_scale", "keep the right one")), error
    assert bytes_of(folder) == files
    scale_file(side, **{"k_scale": 0.5, "k_proj.k_scale": 0.5})
    changes = as_json("scales", "apply", folder, "--scales", side, "--into-checkpoint")["changes"]
    assert [(c["tensor"], c["after"]) for c in changes] == [(KV0 + "k_scale", [0.5])]


def test_a_checkpoint_with_two_values_for_one_scale(tmp_path):
    """Said by show, refused by what would have to choose; a scale file settles it."""
    checkpoint, first, second = cp.autofp8(), KV0 + "k_scale", KV0 + "k_proj.k_scale"
    checkpoint.tensors[second] = np.float32(0.5).reshape(())
    folder = write(tmp_path, "model", checkpoint)
    shown = octavo("scales", "show", folder)
    assert first in shown.stderr and second in shown.stderr
    scales = as_json("scales", "show", folder)["scales"]
    assert [s["rival"] for s in scales if s["name"] == first] in ([first], [second])
    assert {s["rival"] for s in scales if s["name"] != first} == {""}
    error = octavo("scales", "extract", folder, "-o", tmp_path / "out.safetensors", code=3).stderr
    assert first in error and second in error, error
    for command in (["convert", "--layout", "modelopt"], ["convert", "--layout", "quark"], ["dequantize"]):
        for more in (["--dry-run"], []):
            error = octavo(command[0], folder, "-o", tmp_path / "out", *command[1:], *more, code=3).stderr
            assert "0.5" in error and "0.03" in error and first in error and second in error, error
            assert not (tmp_path / "out").exists()
    side = scale_file(tmp_path / "side.safetensors", **{"k_scale": 0.25})
    changes = as_json("scales", "apply", folder, "--scales", side, "--into-checkpoint")["changes"]
    assert sorted(c["change"] for c in changes) == ["removed", "replaced"]
    after = tensors_of(folder)
    assert [float(after[name]) for name in (first, second) if name in after] == [0.25]
    octavo("lint", folder, "--ignore", "negative-zero", "--fail-on", "note")


@pytest.mark.parametrize("layout, name", [("modelopt", "k_proj.k_scale"), ("quark", "k_proj.output_scale"),
                                          ("compressed-tensors", "k_scale")])
def test_one_of_two_equal_names_is_kept(tmp_path, layout, name):
    checkpoint = cp.autofp8()
    checkpoint.tensors[KV0 + "k_proj.k_scale"] = np.float32([0.03])
    folder = write(tmp_path, "model", checkpoint)
    octavo("lint", folder, "--ignore", "negative-zero", "--fail-on", "note")
    octavo("convert", folder, "-o", tmp_path / "out", "--layout", layout)
    after = tensors_of(tmp_path / "out")
    spelled = ("k_scale", "k_proj.k_scale", "k_proj.output_scale")
    assert [each for each in spelled if KV0 + each in after] == [name]
    octavo("verify", tmp_path / "out", "--against", folder)
    octavo("dequantize", folder, "-o", tmp_path / "plain")
    assert not [key for key in tensors_of(tmp_path / "plain") if "scale" in key]


def test_a_scale_of_both_that_is_outweighed_says_nothing_more(tmp_path):
    checkpoint = cp.autofp8(static=False)
    checkpoint.tensors[KV0 + "kv_scale"] = np.float32(0.5).reshape(())
    folder = write(tmp_path, "model", checkpoint)
    octavo("convert", folder, "-o", tmp_path / "out", "--layout", "compressed-tensors")
    after = tensors_of(tmp_path / "out")
    assert KV0 + "kv_scale" not in after and after[KV0 + "k_scale"] == np.float32(0.03)
    side = scale_file(tmp_path / "side.safetensors", **{"k_scale": 0.25})
    octavo("scales", "apply", folder, "--scales", side, "--into-checkpoint")
    after = tensors_of(folder)
    assert KV0 + "kv_scale" not in after
    assert after[KV0 + "k_scale"] == 0.25 and after[KV0 + "v_scale"] == np.float32(0.01)


def test_a_scale_of_both_becomes_two_in_a_layout_that_has_two(tmp_path):
    checkpoint = cp.autofp8(static=False)
    del checkpoint.tensors[KV0 + "v_scale"]
    checkpoint.tensors[KV0 + "kv_scale"] = checkpoint.tensors.pop(KV0 + "k_scale")
    folder = write(tmp_path, "model", checkpoint)
    octavo("convert", folder, "-o", tmp_path / "out", "--layout", "compressed-tensors")
    after = tensors_of(tmp_path / "out")
    assert after[KV0 + "k_scale"] == after[KV0 + "v_scale"] == np.float32(0.03)
    octavo("verify", tmp_path / "out", "--against", folder)


@pytest.mark.parametrize("one, other", [("k", "v"), ("v", "k")])
@pytest.mark.parametrize("spelled", ["{}_scale", "attn.{}_scale"])
def test_a_scales_own_name_outweighs_the_one_of_both(tmp_path, one, other, spelled):
    """In the file as in a checkpoint, whichever comes first."""
    folder = write(tmp_path, "model", cp.autofp8())
    side = scale_file(tmp_path / "side.safetensors", **{"kv_scale": 0.5, spelled.format(one): 0.25})
    expected = {KV0 + one + "_scale": [0.25], KV0 + other + "_scale": [0.5]}
    shown = as_json("scales", "show", folder, "--scales", side)["scales"]
    assert expected == {s["name"]: s["values"] for s in shown if s["name"] in expected}
    changes = as_json("scales", "apply", folder, "--scales", side, "--into-checkpoint")["changes"]
    assert expected == {c["tensor"]: c["after"] for c in changes}


@pytest.mark.parametrize("make, scale", [(cp.autofp8, ".weight_scale"), (cp.modelopt_nvfp4, ".weight_scale_2")])
def test_a_scale_of_a_weight_is_said_to_change_it(tmp_path, make, scale):
    folder = write(tmp_path, "model", make())
    side = tmp_path / "side.safetensors"
    cp.write_safetensors(side, {UP + scale: np.float32(0.25).reshape(()), UP + ".input_scale": np.float32(0.5).reshape(())})
    for more in (["show"], ["apply", "-o", tmp_path / "out.safetensors"]):
        error = octavo("scales", more[0], folder, "--scales", side, *more[1:]).stderr
        assert "1 scale of the scale file is not used at run time" in error
    apply = ["scales", "apply", folder, "--scales", side, "--into-checkpoint", "--json"]
    result = octavo(*apply)
    assert "warning: 1 scale replaced is of a weight" in result.stderr
    changes = {c["tensor"]: c["changes_weight"] for c in json.loads(result.stdout)["changes"]}
    assert changes == {UP + scale: True, UP + ".input_scale": False}
    result = octavo(*apply)  # the same again changes nothing
    assert "warning" not in result.stderr
    assert not any(c["changes_weight"] for c in json.loads(result.stdout)["changes"])


@pytest.mark.parametrize("command", ["extract", "apply", "report", "report of another"])
def test_no_output_takes_the_place_of_a_file_of_the_checkpoint(tmp_path, command):
    """Neither by its name nor by another spelling of it."""
    checkpoint = cp.modelopt_nvfp4()
    checkpoint.shards = 2
    folder = write(tmp_path, "model", checkpoint)
    other = write(tmp_path, "other", cp.autofp8())
    side = tmp_path / "side.safetensors"
    cp.write_safetensors(side, {KV0 + "k_scale": np.float32(0.25).reshape(())})
    for name in ("tokenizer.json", "adapter.safetensors", "generation_config.json"):
        (folder / name).write_text("{}")
    files = bytes_of(folder)
    (tmp_path / "link").symlink_to(folder)
    arguments = {"extract": ("scales", "extract", folder),
                 "apply": ("scales", "apply", folder, "--scales", side),
                 "report": ("report", folder),
                 "report of another": ("report", other, "--against", folder)}[command]
    for name in files:
        for output in (folder / name, tmp_path / "other" / ".." / "link" / name):
            error = octavo(*arguments, "-o", output, code=3).stderr
            assert f'"{name}" of the checkpoint itself' in error and "another file" in error, error
    assert bytes_of(folder) == files
    ending = "html" if command.startswith("report") else "safetensors"
    for _ in range(2):  # one's own output may be written again, also in the folder
        octavo(*arguments, "-o", folder / f"kept.{ending}")


@pytest.mark.parametrize("command", [("scales", "extract"), ("report",)], ids=" ".join)
def test_an_output_that_is_no_file_stays_what_it_is(tmp_path, command):
    """A pipe or a device is refused, a link kept and its file written."""
    folder = write(tmp_path, "model", cp.autofp8())
    pipe, link = tmp_path / "pipe.safetensors", tmp_path / "link.safetensors"
    os.mkfifo(pipe)
    assert "not a regular file" in octavo(*command, folder, "-o", pipe, code=3).stderr
    assert pipe.is_fifo()
    (tmp_path / "file").write_text("old")
    link.symlink_to(tmp_path / "file")
    octavo(*command, folder, "-o", link)
    assert link.is_symlink() and (tmp_path / "file").read_bytes() != b"old"


def test_apply_wants_one_place(tmp_path):
    folder = write(tmp_path, "model", cp.autofp8())
    octavo("scales", "apply", folder, "--scales", folder, code=2)


# diff

def test_equal_checkpoints_are_identical(tmp_path):
    a = write(tmp_path, "a", cp.autofp8())
    one_file = cp.autofp8()
    one_file.shards = 1
    b = write(tmp_path, "b", one_file)
    report = as_json("diff", a, b)
    assert report["within_tolerance"] and {w["sameness"] for w in report["weights"]} == {"identical"}


@pytest.mark.parametrize("make", [cp.autofp8, cp.deepseek])
def test_values_are_equal_across_layouts(tmp_path, make):
    checkpoint = make()
    values = {name: tensor.astype(np.float32) for name, tensor in dequantized(checkpoint).items()}
    plain = write(tmp_path, "plain", cp.Checkpoint(values, {"model_type": "llama"}))
    quantized = write(tmp_path, "quantized", checkpoint)
    report = as_json("diff", quantized, plain, code=1 if make is cp.autofp8 else 0)
    for weight in report["weights"]:
        if "scale" in weight["name"]:
            assert weight["sameness"] == "only in the first"
        elif cp.is_linear(weight["name"]):
            assert weight["sameness"] == "equal values", weight
            assert weight["elements"] == values[weight["name"]].size


def test_differences_have_the_right_figures(tmp_path):
    a, b = cp.plain(), cp.plain()
    b[UP + ".weight"][3, 4] += cp.BF16(0.5)
    x, y = (t[UP + ".weight"].astype(np.float64) for t in (a, b))
    folders = [write(tmp_path, n, cp.Checkpoint(t, {})) for n, t in (("a", a), ("b", b))]
    report = as_json("diff", *folders, code=1)
    (weight,) = [w for w in report["weights"] if w["sameness"] != "identical"]
    assert (weight["name"], weight["sameness"], weight["differing"]) == (UP + ".weight", "different", 1)
    assert weight["max_absolute"] == pytest.approx(np.abs(x - y).max())
    assert weight["of_amax"] == pytest.approx(np.abs(x - y).max() / np.abs(x).max())
    assert weight["rms"] == pytest.approx(np.linalg.norm(x - y) / np.linalg.norm(x))
    assert weight["max_relative"] == pytest.approx(np.abs((x - y)[3, 4] / x[3, 4]))
    as_json("diff", *folders, "--tolerance", weight["of_amax"] * 1.001)
    as_json("diff", *folders, "--tolerance", weight["of_amax"] * 0.999, code=1)


def test_figures_of_hand_made_weights(tmp_path):
    nan, inf = np.nan, np.inf
    pairs = {  # name: a, b, sameness, differing, max |a-b|, of amax, rms, max |a-b| / |a|; None: infinite
        # the largest difference is neither the last nor the largest of its value
        "several": ([8, 2, 1, 4], [8, 2.5, 1.75, 4.25], "different", 3, .75, .75 / 8,
                    np.sqrt((.25 + .5625 + .0625) / 85), .75),
        "nan in both": ([nan, 1], [nan, 1.5], "different", 1, .5, .5, .5, .5),
        "nan in one": ([nan, 1], [2, 1], "different", 1, None, None, None, None),
        "inf in both": ([inf, 2], [inf, 2.5], "different", 1, .5, .25, .25, .25),
        "inf in one": ([0, 2], [inf, 2], "different", 1, None, None, None, None),
        "from nothing": ([0, 0], [0, .5], "different", 1, .5, None, None, 0),
        "signs of zero": ([0, 1], [-0., 1], "equal values", 0, 0, 0, 0, 0),
        "zeros": ([0, 0], [-0., 0], "equal values", 0, 0, 0, 0, 0),
    }
    for side, dtype in ((0, np.float32), (1, np.float32)):
        tensors = {name: np.array(pair[side], dtype) for name, pair in pairs.items()}
        write(tmp_path, "ab"[side], cp.Checkpoint(tensors, {}))
    report = as_json("diff", tmp_path / "a", tmp_path / "b", code=1)
    found = {w["name"]: w for w in report["weights"]}
    assert found.keys() == pairs.keys()
    for name, (_, _, sameness, differing, *figures) in pairs.items():
        weight = found[name]
        assert (weight["sameness"], weight["differing"]) == (sameness, differing), name
        for key, figure in zip(("max_absolute", "of_amax", "rms", "max_relative"), figures):
            assert weight[key] == (None if figure is None else pytest.approx(figure, rel=1e-12)), (name, key)
        assert ("1 of the values that differ" in weight["why"]) == (name in ("nan in one", "inf in one")), name
    only = write(tmp_path, "c", cp.Checkpoint({"w": np.array([1, 4], np.float32)}, {}))
    half = write(tmp_path, "d", cp.Checkpoint({"w": np.array([1, 3], np.float32)}, {}))
    as_json("diff", only, half, "--tolerance", "0.25")  # as far as is allowed
    as_json("diff", only, half, "--tolerance", "0.2499", code=1)


def test_what_cannot_be_compared(tmp_path):
    a, b = cp.plain(), cp.plain()
    b[UP + ".weight"] = b[UP + ".weight"].reshape(64, 128)
    b["extra"] = b.pop("lm_head.weight")
    a["count"], b["count"] = np.arange(3), np.arange(3) + 1
    b["model.norm.weight"] = b["model.norm.weight"] * cp.BF16(np.nan)
    folders = [write(tmp_path, n, cp.Checkpoint(t, {})) for n, t in (("a", a), ("b", b))]
    report = as_json("diff", *folders, "--tolerance", "1e9", code=1)
    found = {w["name"]: w["sameness"] for w in report["weights"] if w["sameness"] != "identical"}
    assert found == {UP + ".weight": "other shape", "lm_head.weight": "only in the first",
                     "extra": "only in the second", "count": "not comparable",
                     "model.norm.weight": "different"}
    octavo("diff", *folders, "--tolerance", "-1", code=2)


# docs/checkpoints.md

def console(page):
    inside, commands = False, []
    for line in page.splitlines():
        if line.startswith("```"):
            inside = line == "```console"
        elif inside:
            commands.append(line)
    return commands


def test_the_commands_of_the_page_run(tmp_path):
    """From first to last, in one folder, as a reader types them: nothing is removed in between."""
    commands = console((DOCS / "checkpoints.md").read_text())
    assert len(commands) > 20
    write(tmp_path, "bf16", cp.plain_checkpoint())
    write(tmp_path, "fp8", cp.autofp8())
    write(tmp_path, "blocks", cp.deepseek())
    write(tmp_path, "nvfp4", cp.compressed_nvfp4())
    random = np.random.default_rng(2)
    write(tmp_path, "experts", cp.Checkpoint(
        {f"model.layers.0.mlp.experts.{name}": random.normal(0, 0.1, shape).astype(cp.BF16)
         for name, shape in (("gate_up_proj", (2, 64, 128)), ("down_proj", (2, 64, 64)))}
        | {"model.layers.0.mlp.router.weight": np.ones((2, 64), cp.BF16)}, {"model_type": "gpt_oss"}))
    octavo("quantize", tmp_path / "bf16", "-o", tmp_path / "mxfp4", "--layout", "compressed-tensors",
           "--format", "mxfp4", "--weight-only")
    for command in commands:
        words = shlex.split(command)
        assert words[:2] == ["octavo", "checkpoint"]
        result = subprocess.run([OCTAVO, *words[1:]], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, (command, result.stdout, result.stderr)
