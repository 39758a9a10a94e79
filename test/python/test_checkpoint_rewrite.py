"""`octavo checkpoint quantize`, `dequantize` and `convert` from the outside: what they write, against
NumPy and ml_dtypes; and that nothing half-written is ever seen, whatever happens to them."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import checkpoint_model as model
import checkpoints
import ml_dtypes
import numpy as np
import pytest

BIN = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
LINEAR = [name for name in model.weights() if "_proj.weight" in name]
FUSED = [("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj")]
E4M3, E2M1 = ml_dtypes.float8_e4m3fn, ml_dtypes.float4_e2m1fn


def octavo(*arguments, code=0, stderr=""):
    """What it prints; `stderr` is what it says besides, None if that does not matter."""
    run = subprocess.run(
        [BIN, "checkpoint", *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    if code:
        assert run.stderr.startswith("octavo: error: "), run.stderr
        return run.stderr
    assert stderr is None or run.stderr == stderr
    return run.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain") / "model"
    model.write(folder, model.weights())
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def quantize(plain, out, form, *more, layout="compressed-tensors"):
    return octavo("quantize", plain, "-o", out, "--layout", layout, "--format", form, *more)


def unpack(packed):
    """Nibbles, the low one first, as E2M1 values."""
    codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], -1)
    return codes.view(E2M1).astype(np.float32)


def shared_amax(weights, name):
    module, last = name.removesuffix(".weight").rsplit(".", 1)
    group = next((group for group in FUSED if last in group), (last,))
    tensors = [weights[f"{module}.{member}.weight"] for member in group]
    return np.float32(max(np.abs(tensor.astype(np.float32)).max() for tensor in tensors))


def test_fp8_rows(plain, tmp_path):
    quantize(plain, tmp_path / "out", "fp8_row")
    weights, written = model.weights(), model.read(tmp_path / "out")
    for name in LINEAR:
        x = weights[name].astype(np.float32)
        scale = written[name.replace(".weight", ".weight_scale")]
        assert scale.dtype == ml_dtypes.bfloat16 and scale.shape == (len(x), 1)
        amax = np.abs(x).max(axis=1, keepdims=True)
        np.testing.assert_array_equal(scale, (amax / np.float32(448)).astype(ml_dtypes.bfloat16))
        quotient = np.clip(x / scale.astype(np.float32), -448, 448)
        np.testing.assert_array_equal(
            written[name].view(np.uint8), quotient.astype(E4M3).view(np.uint8)
        )
    others = set(weights) - set(LINEAR)
    for name in others:
        assert written[name].tobytes() == weights[name].tobytes()
    assert set(written) == set(weights) | {n.replace(".weight", ".weight_scale") for n in LINEAR}


def test_fp8_blocks_and_tensors(plain, tmp_path):
    weights = model.weights()
    for form, block, layout, suffix in (
        ("fp8_block", 128, "deepseek", "_scale_inv"),
        ("fp8_tensor", 10**6, "fp8", "_scale"),
    ):
        is_whole = form == "fp8_tensor"
        quantize(plain, tmp_path / form, form, layout=layout)
        written = model.read(tmp_path / form)
        for name in LINEAR:
            x = weights[name].astype(np.float32)
            scale = written[name + suffix]
            grid = np.asarray(scale).reshape(-(-x.shape[0] // block), -(-x.shape[1] // block))
            for i in range(grid.shape[0]):
                for j in range(grid.shape[1]):
                    at = np.s_[i * block : (i + 1) * block, j * block : (j + 1) * block]
                    amax = shared_amax(weights, name) if is_whole else np.abs(x[at]).max()
                    assert grid[i, j] == amax / np.float32(448)
                    quotient = np.clip(x[at] / grid[i, j], -448, 448).astype(E4M3)
                    assert (written[name][at].view(np.uint8) == quotient.view(np.uint8)).all()


def test_nvfp4_shares_outer_scales_across_shards(plain, tmp_path):
    quantize(plain, tmp_path / "out", "nvfp4", "--weight-only")
    weights, written = model.weights(), model.read(tmp_path / "out")
    for name in LINEAR:
        module = name.removesuffix(".weight")
        divisor = written[module + ".weight_global_scale"]
        assert divisor.dtype == np.float32 and divisor.shape == (1,)
        assert divisor[0] == np.float32(2688) / shared_amax(weights, name)
        x = weights[name].astype(np.float32)
        blocks = x.reshape(len(x), -1, 16)
        amax = np.abs(blocks).max(axis=2)
        outer = np.float32(1) / divisor
        scale = np.maximum((amax / np.float32(6) / outer).astype(E4M3).astype(np.float32), 2.0**-9)
        scale[amax == 0] = 1
        got = written[module + ".weight_scale"].astype(np.float32)
        np.testing.assert_array_equal(got, scale)
        quotient = np.clip(blocks / (scale * outer)[:, :, None], -6, 6).astype(E2M1)
        codes = unpack(written[module + ".weight_packed"]).reshape(blocks.shape)
        np.testing.assert_array_equal(codes, quotient.astype(np.float32))


@pytest.mark.parametrize("form", ["fp8_tensor", "fp8_row", "fp8_block", "nvfp4", "mxfp4", "mxfp8_e4m3"])
@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_dequantize(plain, tmp_path, form, dtype):
    quantize(plain, tmp_path / "narrow", form)
    octavo("dequantize", tmp_path / "narrow", "-o", tmp_path / "wide", "--dtype", dtype)
    narrow, wide = model.read(tmp_path / "narrow"), model.read(tmp_path / "wide")
    assert set(wide) == set(model.weights())
    for name in LINEAR:
        module = name.removesuffix(".weight")
        if name in narrow:
            codes = narrow[name].astype(np.float64)
        else:
            codes = unpack(narrow[module + ".weight_packed"]).astype(np.float64)
        scale = narrow[module + ".weight_scale"]
        scale = np.exp2(scale.astype(np.float64) - 127) if scale.dtype == np.uint8 else scale
        scale = np.asarray(scale, np.float64).reshape(-1, scale.shape[-1])
        rows, columns = -(-codes.shape[0] // len(scale)), -(-codes.shape[1] // scale.shape[1])
        values = codes * scale.repeat(rows, axis=0).repeat(columns, axis=1)
        if form == "nvfp4":
            values = values * np.float64(np.float32(1) / narrow[module + ".weight_global_scale"][0])
        expected = values.astype(np.float32)  # one rounding, then one more to the dtype
        if dtype == "bf16":
            expected = expected.astype(ml_dtypes.bfloat16)
        assert wide[name].tobytes() == expected.tobytes(), name
    config = json.loads((tmp_path / "wide/config.json").read_text())
    assert "quantization_config" not in config
    assert config["torch_dtype"] == {"bf16": "bfloat16", "f32": "float32"}[dtype]


def test_f16_that_overflows_is_refused(tmp_path):
    weights = model.weights()
    weights["model.layers.0.mlp.up_proj.weight"][5, 5] = 1e9
    model.write(tmp_path / "in", weights)
    quantize(tmp_path / "in", tmp_path / "narrow", "fp8_row")
    message = octavo(
        "dequantize", tmp_path / "narrow", "-o", tmp_path / "out", "--dtype", "f16", code=3
    )
    assert "model.layers.0.mlp.up_proj.weight" in message and "--dtype bf16" in message


def test_nan_is_refused_or_kept_by_choice(tmp_path):
    weights = model.weights()
    name = "model.layers.1.mlp.down_proj.weight"
    weights[name][7, 40] = np.nan
    model.write(tmp_path / "in", weights)
    for form in ("mxfp4", "nvfp4"):
        message = quantize_error(tmp_path / "in", tmp_path / form, form)
        assert name in message and "row 7, column 40" in message, message
    quantize(tmp_path / "in", tmp_path / "out", "mxfp4", "--non-finite", "propagate")
    scales = model.read(tmp_path / "out")[name.replace("weight", "weight_scale")]
    assert scales[7, 1] == 0xFF and (scales != 0xFF).sum() == scales.size - 1


def quantize_error(plain, out, form, *more, code=3, layout="compressed-tensors"):
    return octavo(
        "quantize", plain, "-o", out, "--layout", layout, "--format", form, *more, code=code
    )


@pytest.mark.parametrize("layout", ["compressed-tensors", "modelopt"])
def test_activations_that_need_a_calibration_stay_wide_and_a_note_says_so(plain, tmp_path, layout):
    def rules(out, form, *more):
        notes = json.loads(quantize(plain, tmp_path / out, form, "--json", *more, layout=layout))["notes"]
        return [note["rule"] for note in notes]

    assert rules("silent", "nvfp4") == ["activations-stay-wide"]
    assert rules("said", "nvfp4", "--weight-only") == []
    assert rules("mx", "mxfp8_e4m3") == []
    assert contents(tmp_path / "silent") == contents(tmp_path / "said")


def test_choice_of_weights(plain, tmp_path):
    def chosen(*flags):
        text = quantize(plain, tmp_path / "none", "mxfp4", *flags, "--dry-run", "--json")
        assert not (tmp_path / "none").exists()
        document = json.loads(text)
        return {w["name"] for w in document["weights"]}, {
            w["name"]: w["why"] for w in document["left"]
        }

    weights, left = chosen()
    assert weights == set(LINEAR)
    assert "embedding" in left["model.embed_tokens.weight"] and "head" in left["lm_head.weight"]
    weights, left = chosen("--only", "lm_head")
    assert weights == {"lm_head.weight"} and left[LINEAR[0]] == "not named by --only"
    weights, _ = chosen("--only", "model.layers.0.mlp.*")
    assert weights == {n for n in LINEAR if "layers.0.mlp" in n}
    weights, _ = chosen("--only", r"re:.*\.1\..*_proj", "--ignore", "*.q_proj")
    assert weights == {n for n in LINEAR if "layers.1" in n and "q_proj" not in n}
    assert "nothing.at.all names no weight" in quantize_error(
        plain, tmp_path / "none", "mxfp4", "--ignore", "nothing.at.all", "--dry-run"
    )
    message = quantize_error(plain, tmp_path / "none", "mxfp4", "--ignore", "*")
    assert "no weight to quantize" in message


@pytest.mark.parametrize("flags, cut", [
    (["--only", "*.q_proj"], 2), (["--ignore", "*.0.mlp.gate_proj"], 1), (["--ignore", "*.o_proj"], 0),
    (["--only", "re:.*[qkv]_proj"], 0)])
def test_a_choice_that_cuts_fused_projections_is_noted(plain, tmp_path, flags, cut):
    """What lint has for an error; beforehand, too. Two layers, one note."""
    for more in (["--dry-run"], []):
        text = quantize(plain, tmp_path / "out", "fp8_row", *flags, *more, "--json")
        notes = [n for n in json.loads(text)["notes"] if n["rule"] == "fused-formats-differ"]
        assert len(notes) == (cut > 0)
        assert all(("1 more" in note["what"]) == (cut == 2) for note in notes)
    found = json.loads(octavo("lint", tmp_path / "out", "--json", "--fail-on", "never"))["findings"]
    assert sum(f["rule"] == "fused-formats-differ" for f in found) == cut


def test_configuration_names_what_is_left(plain, tmp_path):
    quantize(plain, tmp_path / "out", "fp8_row", "--ignore", "*.down_proj")
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert config["model_type"] == "llama"
    ignored = config["quantization_config"]["ignore"]
    assert set(ignored) == {"lm_head"} | {f"model.layers.{i}.mlp.down_proj" for i in range(2)}


def test_usage(plain, tmp_path):
    out = tmp_path / "out"
    assert "near it: nvfp4" in quantize_error(plain, out, "nvfp5", code=2)
    assert "available: " in quantize_error(plain, out, "mxfp4", layout="none", code=2)
    assert "preset" in quantize_error(plain, out, "mxfp4", "--preset", "nobody", code=2)
    assert "E8M0" in quantize_error(plain, out, "fp8_row", "--rule", "floor", code=2)
    message = quantize_error(plain, out, "nvfp4", "--non-finite", "saturate", code=2)
    assert "nvfp4 has a scale that all values of a tensor share" in message
    message = quantize_error(plain, out, "mxfp4", "--memory", "1", code=2)
    assert "expected 1MB or more, found 1 bytes" in message
    assert "inside the input" in quantize_error(plain, plain / "sub", "mxfp4")
    quantize(plain, out, "mxfp4")
    assert "not empty" in quantize_error(plain, out, "mxfp4")
    assert "is already quantized" in quantize_error(out, tmp_path / "again", "mxfp4")


@pytest.mark.parametrize("layout, format_name", [("compressed-tensors", "nvfp4"), ("fp8", "fp8_tensor")])
def test_what_cannot_be_quantized_is_left_by_name(tmp_path, layout, format_name):
    """A weight without values has no amax and so no scale; of F64 no kernel reads."""
    tensors = model.weights()
    names = ["model.layers.0.self_attn.o_proj.weight", "model.layers.1.mlp.down_proj.weight"]
    tensors[names[0]] = tensors[names[0]][:0]
    tensors[names[1]] = tensors[names[1]].astype(np.float64)
    model.write(tmp_path / "plain", tensors)
    out = tmp_path / "out"
    text = quantize(tmp_path / "plain", out, format_name, "--json", layout=layout)
    left = {w["name"]: w["why"] for w in json.loads(text)["left"]}
    assert "no values" in left[names[0]] and "F64 is not quantized" in left[names[1]]
    octavo("lint", out, "--fail-on", "warning")


def test_a_job_that_stops_at_a_value_can_be_run_with_other_options(tmp_path):
    tensors = model.weights()
    name = "model.layers.0.self_attn.k_proj.weight"  # in the first shard
    tensors[name] = tensors[name].copy()
    tensors[name][0, 0] = np.nan
    model.write(tmp_path / "plain", tensors)
    out = tmp_path / "out"
    assert "saturate or propagate" in quantize_error(tmp_path / "plain", out, "mxfp8_e4m3")
    assert not out.exists()
    quantize(tmp_path / "plain", out, "mxfp8_e4m3", "--non-finite", "propagate")


@pytest.mark.parametrize("part", ["weight_packed", "weight_global_scale"])
@pytest.mark.parametrize("dry", [["--dry-run"], []], ids=["dry", "run"])
def test_a_tensor_that_is_named_like_a_part_of_the_output(tmp_path, part, dry):
    """Found before anything is written, also in another shard."""
    tensors = model.weights()
    name = "model.layers.0.mlp.up_proj."
    tensors[name + part] = np.ones(3, np.float32)
    model.write(tmp_path / "plain", tensors)
    error = octavo("quantize", tmp_path / "plain", "-o", tmp_path / "out", "--layout", "compressed-tensors",
                   "--format", "nvfp4", "--weight-only", *dry, code=3)
    assert "two tensors of this name" in error and f'"{name}{part}"' in error and f'"{name}weight"' in error
    assert not (tmp_path / "out").exists()
    octavo("quantize", tmp_path / "plain", "-o", tmp_path / "out", "--layout", "modelopt",
           "--format", "nvfp4", "--weight-only", *dry, stderr=None)


def test_the_beginnings_of_a_job_are_no_checkpoint(tmp_path):
    """Whether or not a shard is missing: every command says what the folder is."""
    folder = checkpoints.autofp8().write(tmp_path / "out")
    other = checkpoints.autofp8().write(tmp_path / "other")
    (folder / ".octavo-job.json").write_text("{}")
    for missing in (False, True):
        if missing:
            (folder / "model.safetensors.index.json").unlink()
            (folder / "model-00002-of-00002.safetensors").unlink()
        for command in (["dequantize", folder, "-o", tmp_path / "x"], ["inspect", folder],
                        ["convert", folder, "-o", tmp_path / "x", "--layout", "quark"],
                        ["quantize", folder, "-o", tmp_path / "x", "--layout", "quark", "--format", "mxfp4"],
                        ["report", folder, "-o", tmp_path / "page.html"], ["scales", "show", folder],
                        ["diff", other, folder], ["verify", other, "--against", folder]):
            error = octavo(*command, code=3)
            assert "unfinished octavo job" in error and "again" in error, error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out"]


def test_shards_without_an_index_get_one(tmp_path):
    folder = checkpoints.autofp8().write(tmp_path / "in")
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    (folder / "model.safetensors.index.json").unlink()
    octavo("convert", folder, "-o", tmp_path / "out", "--layout", "compressed-tensors", stderr=None)
    written = json.loads((tmp_path / "out/model.safetensors.index.json").read_text())
    assert written["weight_map"].keys() == index["weight_map"].keys()
    octavo("verify", tmp_path / "out", "--against", folder)


def test_an_index_may_spell_its_shards_otherwise(tmp_path):
    folder = checkpoints.autofp8().write(tmp_path / "in")
    path = folder / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    index["weight_map"] = {name: "./" * (i % 2) + shard for i, (name, shard) in enumerate(index["weight_map"].items())}
    path.write_text(json.dumps(index))
    octavo("lint", folder, "--ignore", "negative-zero", "--fail-on", "note")
    octavo("dequantize", folder, "-o", tmp_path / "out", stderr=None)
    octavo("verify", tmp_path / "out", "--against", folder)


def test_names_cannot_write_to_the_terminal(tmp_path):
    """Those of tensors, in the plan, the notes, what is left and what was lost."""
    tensors = model.weights()
    for name, other in (("q_proj", "\x1b[31mq_proj"), ("input_layernorm", "\x1b[2Jnorm")):
        name = f"model.layers.0.{'self_attn.' if name == 'q_proj' else ''}{name}.weight"
        tensors[name.replace(name.split(".")[-2], other)] = tensors.pop(name)
    tensors["model.layers.0.\x07kept.weight"] = np.zeros((0, 32), np.float32)
    model.write(tmp_path / "plain", tensors)
    texts = [quantize(tmp_path / "plain", tmp_path / "out", "fp8_row", *more) for more in (["--dry-run"], [])]
    texts.append(octavo("convert", tmp_path / "out", "-o", tmp_path / "again", "--layout", "deepseek",
                        "--requantize", "--format", "fp8_block"))
    assert any("\\x1b[31mq_proj" in text for text in texts)
    assert not any(c in text for text in texts for c in "\x1b\x07")


def test_rules_and_presets_differ_where_they_should(plain, tmp_path):
    bytes_of = {}
    for flags in (["--rule", "floor"], ["--rule", "even"], ["--preset", "ocp"]):
        out = tmp_path / flags[1]
        quantize(plain, out, "mxfp4", *flags)
        bytes_of[flags[1]] = contents(out)
    assert bytes_of["floor"] == bytes_of["ocp"]
    assert bytes_of["floor"] != bytes_of["even"]


def test_presets_compute_in_the_type_of_the_weights(tmp_path):
    """compressed-tensors divides bf16 in bf16, of blocks cut short too: with ml_dtypes' own arithmetic.
    Its own layout keeps the scales in bf16."""
    tensors, name = model.weights(), "model.layers.1.self_attn.o_proj.weight"
    weight = tensors[name] = tensors[name][:100].astype(ml_dtypes.bfloat16)
    model.write(tmp_path / "plain", tensors)
    for layout, scale_name in (("deepseek", "_scale_inv"), ("compressed-tensors", "_scale")):
        quantize(tmp_path / "plain", tmp_path / layout, "fp8_block", "--preset", "compressed-tensors", layout=layout)
        written = model.read(tmp_path / layout)
        padded = np.zeros((128, -(-weight.shape[1] // 128) * 128), weight.dtype)
        padded[:100, :weight.shape[1]] = weight
        scale = np.abs(padded).reshape(1, 128, -1, 128).max((1, 3)) / weight.dtype.type(448)
        np.testing.assert_array_equal(written[name + scale_name].astype(np.float32), scale.astype(np.float32))
        quotient = (padded / np.repeat(scale, 128, 1))[:100, :weight.shape[1]].astype(np.float32)
        codes = np.clip(quotient, -448, 448).astype(E4M3)
        np.testing.assert_array_equal(written[name].view(np.uint8), codes.view(np.uint8))


def test_bytes_do_not_depend_on_threads_or_memory(plain, tmp_path):
    quantize(plain, tmp_path / "one", "nvfp4", "--threads", "1")
    quantize(plain, tmp_path / "two", "nvfp4", "--threads", "2", "--memory", "1MB")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def launch(*arguments):
    return subprocess.Popen(
        [BIN, "checkpoint", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_points():
    """How many points jobs of three kinds are killed at: 60, or 201 for `make exhaustive`."""
    return 67 if os.environ.get("OCTAVO_EXHAUSTIVE") else 20


@pytest.mark.parametrize("command", ["quantize", "convert"])
def test_killed_at_any_moment(tmp_path, command):
    """SIGKILL at random moments, in files of many shards; then again with what is left, until it is
    done: the same bytes, never a shard under its name that is not whole, the input untouched."""
    plain = tmp_path / "plain"
    model.write(plain, model.weights(), shards=12)
    source, job = plain, ("quantize", "--layout", "modelopt", "--format", "nvfp4")
    if command == "convert":
        source = tmp_path / "nvfp4"
        quantize(plain, source, "nvfp4", layout="modelopt")
        job = ("convert", "--layout", "compressed-tensors")
    arguments = [job[0], source, *job[1:], "-o"]
    octavo(*arguments, tmp_path / "whole")
    start = time.monotonic()
    octavo(*arguments, tmp_path / "timed")
    seconds = time.monotonic() - start
    whole, before = contents(tmp_path / "whole"), contents(source)

    random = np.random.default_rng(1)
    killed = unfinished = 0
    out = tmp_path / "out"
    while killed < kill_points():
        run = launch(*arguments, out)
        time.sleep(random.uniform(0, seconds))
        run.kill()
        run.communicate()
        if run.returncode != -9:
            assert run.returncode == 0
        else:
            killed += 1
        left = contents(out) if out.exists() else {}
        for name, found in left.items():
            if name in whole:
                assert found == whole[name], f"{name} is there, and is not whole"
        if "config.json" not in left or ".octavo-job.json" in left:
            unfinished += 1
        if random.random() < 0.3 or run.returncode == 0 or is_done(left, whole):
            if not is_done(left, whole):
                octavo(*arguments, out)
            assert contents(out) == whole
            shutil.rmtree(out)
        assert contents(source) == before
    assert unfinished > killed // 4, "kills came too late to test anything"


def is_done(left, whole):
    return set(left) == set(whole)


def scales_to_apply(folder, shards=12):
    """A checkpoint with scales of its cache under old and new names, and a file that replaces some,
    adds others and makes an old name go. Of its weights a few are large enough to be caught being
    copied."""
    checkpoint = checkpoints.autofp8()
    checkpoint.shards = shards
    tensors = checkpoint.tensors
    first, second = "model.layers.0.self_attn.", "model.layers.1.self_attn."
    tensors[first + "kv_scale"] = tensors.pop(first + "k_scale")
    for name in (first + "v_scale", second + "k_scale", second + "v_scale"):
        del tensors[name]
    for i in range(shards):
        tensors[f"large.{i}"] = np.full((64, 4096), i, np.float32)
    checkpoint.moved[first + "kv_scale"] = 0  # is written before the shard of the keys' weight
    checkpoint.write(folder)
    side = folder.parent / "side.safetensors"
    new = {first + "k_scale": 0.25, second + "k_scale": 0.125, second + "v_scale": 0.0625}
    new |= {name: 0.75 for name in tensors if name.endswith(".input_scale")}
    checkpoints.write_safetensors(side, {n: np.float32(v).reshape(()) for n, v in new.items()})
    return ("scales", "apply", folder, "--scales", side, "--into-checkpoint")


def apply_completely(tmp_path, arguments):
    """What the folder has before and after an undisturbed run, and how long that takes."""
    folder = arguments[2]
    shutil.copytree(folder, tmp_path / "whole")
    before = contents(folder)
    start = time.monotonic()
    octavo("scales", "apply", tmp_path / "whole", *arguments[3:], stderr=None)
    return before, contents(tmp_path / "whole"), time.monotonic() - start


def assert_usable(folder, before, whole):
    """Every file is the old one or the new one (the index may list neither's all), and the folder
    still opens with every weight."""
    for name, found in contents(folder).items():
        if name in whole and not name.endswith(".index.json"):
            assert found in (before[name], whole[name]), f"{name} is not whole"
    shown = json.loads(octavo("scales", "show", folder, "--json", stderr=None))
    assert shown["scales"]
    octavo("diff", folder, folder)


def test_scales_apply_killed_at_any_moment(tmp_path):
    arguments = scales_to_apply(tmp_path / "model")
    before, whole, seconds = apply_completely(tmp_path, arguments)
    assert set(whole) == set(before) and sum(whole[n] != before[n] for n in whole) > 5
    random = np.random.default_rng(2)
    killed = halfway = 0
    out = tmp_path / "model"
    while killed < kill_points():
        run = launch(*arguments)
        time.sleep(random.uniform(0, seconds))
        run.kill()
        run.communicate()
        killed += run.returncode == -9
        left = contents(out)
        assert_usable(out, before, whole)
        halfway += 0 < sum(left.get(n) == whole[n] != before[n] for n in whole) and left != whole
        if random.random() < 0.3 or run.returncode == 0:
            octavo(*arguments, stderr=None)
            assert contents(out) == whole, "what a killed run has left is completed and tidied up"
            shutil.rmtree(out)
            out.mkdir()
            for name, data in before.items():
                (out / name).write_bytes(data)
    assert halfway > 0, "no kill came between two files"


def test_scales_apply_on_a_full_disk(tmp_path):
    """No space for another copy of a shard: every shard stays as it was; then there is some."""
    mount = tmp_path / "small"
    mount.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", mount], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    try:
        arguments = scales_to_apply(mount / "model")
        before, whole, _ = apply_completely(tmp_path, arguments)
        (mount / "balloon").write_bytes(bytes(shutil.disk_usage(mount).free - 100_000))
        message = octavo(*arguments, code=3)
        assert "free some space" in message
        left = contents(mount / "model")
        assert set(left) == set(before), "nothing lies about"
        assert all(left[n] == before[n] for n in left if n.endswith(".safetensors"))
        assert_usable(mount / "model", before, whole)
        (mount / "balloon").unlink()
        octavo(*arguments, stderr=None)
        assert contents(mount / "model") == whole
    finally:
        subprocess.run(["umount", mount], check=True)


def test_full_disk(tmp_path):
    """A file system too small for the job: refused before a byte is written; one that fills up while
    the job runs: what is there is whole, and the job continues once there is space."""
    mount = tmp_path / "small"
    mount.mkdir()
    plain = tmp_path / "plain"
    model.write(plain, model.weights() | {"big": np.zeros(1 << 20, np.float32)}, shards=8)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", mount], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    try:
        arguments = ("quantize", plain, "--layout", "modelopt", "--format", "nvfp4", "-o")
        octavo(*arguments, tmp_path / "whole")
        whole = contents(tmp_path / "whole")
        needed = sum(map(len, whole.values()))
        (mount / "balloon").write_bytes(bytes((8 << 20) - needed // 2))
        message = octavo(*arguments, mount / "out", code=3)
        assert "not enough space" in message and "bytes free" in message
        assert not (mount / "out").exists()

        # The check beforehand passes; then somebody else takes the space while the job runs.
        (mount / "balloon").unlink()
        hits = 0
        for attempt in range(20):
            (mount / "balloon").unlink(missing_ok=True)
            shutil.rmtree(mount / "out", ignore_errors=True)
            run = launch(*arguments, mount / "out")
            while run.poll() is None and not (mount / "out/.octavo-job.json").exists():
                pass
            free = shutil.disk_usage(mount).free
            try:
                (mount / "balloon").write_bytes(bytes(max(0, free - 200_000)))
            except OSError:
                pass
            error = run.communicate()[1]
            left = contents(mount / "out") if (mount / "out").exists() else {}
            for name, found in left.items():
                assert name == ".octavo-job.json" or found == whole[name], name
            if run.returncode == 0:
                continue
            hits += 1
            assert run.returncode == 3 and "space" in error, error
            (mount / "balloon").unlink(missing_ok=True)
            octavo(*arguments, mount / "out")
            assert contents(mount / "out") == whole
        assert hits > 0, "the disk never filled up in time"
    finally:
        subprocess.run(["umount", mount], check=True)
