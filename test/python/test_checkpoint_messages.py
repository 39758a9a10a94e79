"""What the commands on checkpoints say to the mistakes of a first day: what is wrong, where, and what
to do; and that nothing is written then."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import checkpoint_model as model

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("messages")
    model.write(root / "bf16", model.weights())
    shutil.copytree(root / "bf16", root / "noconfig")
    (root / "noconfig/config.json").unlink()
    shutil.copytree(root / "bf16", root / "badjson")
    (root / "badjson/config.json").write_text('{"a": 1,,}')
    (root / "empty").mkdir()
    (root / "model.bin").write_bytes(b"x")
    run(root, "quantize", "bf16", "-o", "fp8", "--layout", "fp8", "--format", "fp8_tensor")
    return root


def run(root, *arguments):
    return subprocess.run([OCTAVO, "checkpoint", *arguments], cwd=root, capture_output=True, text=True, timeout=60)


QUANTIZE = ("quantize", "bf16", "-o", "out", "--layout", "compressed-tensors", "--format")
CASES = {
    # the wrong thing named
    ("inspect", "nowhere"): (3, "nowhere: there is no such file or folder; check the path"),
    ("inspect", "empty"): (3, "empty: holds no safetensors file; name the folder of a checkpoint"),
    ("inspect", "bf16/config.json"): (3, "bf16/config.json: describes a checkpoint but is not one; name its folder"),
    ("inspect", "model.bin"): (3, "a PyTorch pickle, not safetensors", "safetensors.torch.save_file"),
    ("inspect", "badjson"): (3, "badjson/config.json: not valid JSON", "line 1, column 9", "fix it in an editor"),
    ("inspect", "bf16", "--tensor", "model.layers.0.mlp.upproj"): (3, "did you mean model.layers.0.mlp.up_proj.weight?"),
    ("quantize", "fp8", "-o", "out", "--layout", "fp8", "--format", "fp8_tensor"): (
        3, "fp8: is already quantized", "octavo checkpoint convert", "octavo checkpoint dequantize"),
    ("convert", "bf16", "-o", "out", "--layout", "fp8"): (3, "bf16: has no quantized layers", "octavo checkpoint quantize"),
    ("dequantize", "fp8", "-o", "out", "--dtype", "fp32"): (2, 'no dtype "fp32"; did you mean f32?'),
    # misspelled
    ("quantize", "bf16", "-o", "out", "--layout", "compresed", "--format", "mxfp4"): (
        2, 'no layout "compresed"; did you mean compressed-tensors?', "available: fp8, deepseek"),
    (*QUANTIZE, "fp8"): (2, 'layout compressed-tensors: no scaled format "fp8"; near it: fp8_row', "available: fp8_tensor"),
    (*QUANTIZE, "mxfp4:96"): (2, 'no scaled format "mxfp4:96": blocks of mxfp4 are a power of two from 8 to 1024 long'),
    (*QUANTIZE, "mxint8"): (2, 'layout compressed-tensors: no format "mxint8"', "layouts with mxint8: native"),
    (*QUANTIZE, "mxfp4:64"): (2, 'no format "mxfp4:64"; did you mean mxfp4', "no layout has mxfp4:64"),
    (*QUANTIZE, "mxfp4", "--rule", "flor"): (2, "did you mean floor?"),
    ("quantize", "bf16", "-o", "out", "--layout", "plain", "--format", "mxfp4"): (
        2, "layout plain has no quantized formats: octavo checkpoint layouts"),
    (*QUANTIZE, "mxfp4", "--threads", "0"): (2, "--threads: Value 0 not in range", "4096"),
    (*QUANTIZE, "mxfp4", "--ony", "x"): (2, 'no option of quantize "--ony"; did you mean --only'),
    # where the output goes
    (*QUANTIZE[:3], "bf16", *QUANTIZE[4:], "mxfp4"): (3, "the output would be inside the input", "choose a folder elsewhere"),
    (*QUANTIZE[:3], "bf16/out", *QUANTIZE[4:], "mxfp4"): (3, "the output would be inside the input"),
    (*QUANTIZE[:3], "fp8", *QUANTIZE[4:], "mxfp4"): (3, "fp8: the folder is not empty", "remove it, or choose another"),
    (*QUANTIZE[:3], "/proc/x", *QUANTIZE[4:], "mxfp4"): (3, "/proc/x: the folder cannot be created", "choose another place"),
    ("report", "fp8", "-o", "nodir/r.html"): (3, "nodir/r.html: cannot be written", "create its folder first"),
    # patterns
    (*QUANTIZE, "mxfp4", "--only", "model.layers.9.*"): (
        3, "bf16: has no weight to quantize", "--only model.layers.9.* names no weight", "`octavo checkpoint inspect --tensors` lists the names"),
    (*QUANTIZE, "mxfp4", "--only", "re:("): (3, '--only has "re:("', "missing closing parenthesis", "fix the expression"),
    (*QUANTIZE, "mxfp4", "--ignore", "re:["): (3, '--ignore has "re:["', "fix the expression"),
    # what a layout does not have
    ("quantize", "bf16", "-o", "out", "--layout", "gpt-oss", "--format", "mxfp4"): (
        3, "14 left (not one of the stacked experts that this layout quantizes)", "1 left (an embedding"),
    # each format once, and none that needs calibration
    ("quantize", "bf16", "-o", "out", "--layout", "modelopt", "--format", "mxfp4"): (
        2, "did you mean nvfp4?", "available: fp8_row, fp8_block, mxfp8_e4m3, nvfp4\n"),
    ("convert", "fp8", "-o", "out", "--layout", "deepseek"): (
        3, "14 of 14 layers cannot be expressed in layout deepseek without loss",
        "model.layers.0.mlp.down_proj.weight and 13 more: layout deepseek cannot store fp8_tensor; --format fp8_block keeps all values; or --requantize --format F"),
    ("convert", "fp8", "-o", "out"): (2, "one of --layout, --fnuz and --ocp"),
    ("convert", "fp8", "-o", "out", "--layout", "quark", "--requantize"): (2, "--requantize needs --format"),
    ("scales", "extract", "bf16", "-o", "out.safetensors"): (3, "no scales of a key-value cache", "nothing was written"),
    ("scales", "apply", "fp8", "--scales", "none.json", "-o", "out.json"): (3, "none.json: cannot be opened", "check the path"),
    **{("diff", "bf16", "fp8", "--tolerance", text): (2, f"--tolerance: expected a number from 0 on, found {text}")
       for text in ("-1", "0.1x", "nan")},
    **{(*QUANTIZE, "mxfp4", "--memory", text): (2, f"--memory: expected a size such as 256MB or 2GB, found {text}")
       for text in ("-1GB", "lots")},
    ("verify", "fp8"): (2, "--against is required", "octavo checkpoint verify --help"),
}


@pytest.mark.parametrize("arguments", CASES, ids=" ".join)
def test_a_mistake_is_answered(folder, arguments):
    code, *words = CASES[arguments]
    before = sorted(folder.rglob("*"))
    done = run(folder, *arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == "" and done.stderr.startswith("octavo: error: "), done.stdout + done.stderr
    for each in words:
        assert each in done.stderr, done.stderr
    assert sorted(folder.rglob("*")) == before


def test_without_permission(folder):
    """As another user where this one is root, whom nothing is refused."""
    other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        root.chmod(0o755)
        program = shutil.copy(OCTAVO, root)
        shutil.copytree(folder / "bf16", root / "bf16")
        for file in (root / "bf16").iterdir():
            file.chmod(0o644)
        for closed in ("bf16", "bf16/model-00001-of-00002.safetensors", "bf16/config.json"):
            mode = (root / closed).stat().st_mode
            (root / closed).chmod(0)
            for command in (("inspect", "bf16"), ("inspect", "bf16/model-00001-of-00002.safetensors"),
                            ("quantize", "bf16", "-o", "out", "--layout", "fp8", "--format", "fp8_tensor")):
                if closed == "bf16/config.json" and command[1] != "bf16":
                    continue
                said = subprocess.run([program, "checkpoint", *command], cwd=root, capture_output=True, text=True, **other)
                assert said.returncode == 3 and "Permission denied" in said.stderr, (closed, command, said.stderr)
                assert said.stderr.startswith("octavo: error: bf16"), said.stderr
            (root / closed).chmod(mode)
        assert not (root / "out").exists()
        if other:
            said = subprocess.run([program, "checkpoint", "quantize", "bf16", "-o", "out", "--layout", "fp8", "--format",
                                   "fp8_tensor"], cwd=root, capture_output=True, text=True, **other)
            assert said.returncode == 3 and "out: the folder cannot be created: Permission denied" in said.stderr


def test_an_input_without_a_configuration_is_told(folder, tmp_path):
    for arguments in (("quantize", "noconfig", "--layout", "fp8", "--format", "fp8_tensor"),):
        done = run(folder, *arguments, "-o", str(tmp_path / "out"))
        assert done.returncode == 0
        assert "warning: the input has no config.json" in done.stdout, done.stdout
        again = run(folder, *arguments, "-o", str(tmp_path / "json"), "--json")
        assert [note["rule"] for note in json.loads(again.stdout)["notes"]] == ["missing-model-configuration"]
    done = run(folder, "quantize", "bf16", *QUANTIZE[4:], "mxfp4", "-o", str(tmp_path / "with"))
    assert "config.json" not in done.stdout
