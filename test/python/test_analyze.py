"""`octavo analyze`: its figures against a computation in NumPy and ml_dtypes that shares nothing with
it, the samples included; tensors of files; the page docs/commands/analyze.md; bad input."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from trial_formats import RELEASED, TRIAL

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/minilm"))
import encoder_inputs  # noqa: E402

OCTAVO = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
DOCS = ROOT / "docs"

SAMPLES = 1 << 17
COLUMNS = 4096


def octavo(*arguments, code=0, cwd=None, **environment):
    run = subprocess.run(
        [OCTAVO, "analyze", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, cwd=cwd, env={**os.environ, **environment},
    )
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    if code == 0:
        assert run.stderr == ""
        return run.stdout
    assert run.stderr.startswith("octavo: error: "), run.stderr
    return run.stderr


def rows_of(*arguments):
    """The rows of the first source, by format and rule, presets left out."""
    source = json.loads(octavo(*arguments, "--json"))["sources"][0]
    return {(row["format"], row["rule"]): row for row in source["rows"] if row["preset"] is None}


# The computation from elsewhere.


def splitmix64(seed, n):
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(low, high, n=SAMPLES):
    u = (splitmix64(42, n) >> np.uint64(11)) * 2.0**-53
    return (low + (high - low) * u).astype(np.float32).reshape(-1, COLUMNS)


def polar(radius):
    bits = splitmix64(42, 2 * SAMPLES) >> np.uint64(11)
    u, v = (bits[::2] + np.uint64(1)) * 2.0**-53, bits[1::2] * 2.0**-53
    return (radius(u) * np.cos(2 * np.pi * v)).astype(np.float32).reshape(-1, COLUMNS)


SOURCES = {
    "uniform:-1,1": lambda: uniform(-1, 1),
    "uniform:0.5,3": lambda: uniform(0.5, 3),
    "normal": lambda: polar(lambda u: np.sqrt(-2 * np.log(u))),
    "student-t:5": lambda: polar(lambda u: np.sqrt(5 * (u ** (-2 / 5) - 1))),
}

# dtype, largest value, exponent of the largest power of two, trailing significand bits
ELEMENTS = {
    "e4m3": (ml_dtypes.float8_e4m3fn, 448, 8, 3),
    "e5m2": (ml_dtypes.float8_e5m2, 57344, 15, 2),
    "e3m2": (ml_dtypes.float6_e3m2fn, 28, 4, 2),
    "e2m3": (ml_dtypes.float6_e2m3fn, 7.5, 2, 3),
    "e2m1": (ml_dtypes.float4_e2m1fn, 6, 2, 1),
    "e3m4": (ml_dtypes.float8_e3m4, 15.5, 3, 4),
    "e2m2": (None, 7, 2, 2),
    "1_4_3": (None, 480, 8, 3),
    "1_5_2": (None, 114688, 16, 2),
    "int8": (None, 127 / 64, 0, 6),
}
MX = {
    "mxfp8_e4m3": "e4m3", "mxfp8_e5m2": "e5m2", "mxfp6_e3m2": "e3m2", "mxfp6_e2m3": "e2m3",
    "mxfp4": "e2m1", "mxint8": "int8",
    **{name: name.split("_")[1] for name in ("mxfp8_e3m4", "mxfp5_e2m2") if name in TRIAL},
}  # fmt: skip
CFLOAT8 = {"cfloat8_1_4_3_tensor": "1_4_3", "cfloat8_1_5_2_tensor": "1_5_2"}
EMIN = {"e2m2": 0, "1_4_3": -6, "1_5_2": -14}  # of those that ml_dtypes lacks


def rounded(element, x):
    """x to the nearest value of the element format, saturating."""
    dtype, largest, _, bits = ELEMENTS[element]
    x = np.clip(x, -largest, largest)
    if element == "int8":
        return np.clip(np.rint(x * 64), -127, 127) / 64
    if dtype is None:  # as many values in each octave, and below the first as in the first
        step = 2.0 ** (np.frexp(np.maximum(np.abs(x), 2.0 ** EMIN[element]))[1] - 1 - bits)
        return np.rint(x / step) * step
    return x.astype(np.float32).astype(dtype).astype(np.float64)


def exponents(rule, element, amax):
    """Of the scales, from the rules' words in docs/semantics.md."""
    _, largest, emax, bits = ELEMENTS[element]
    significand, exponent = np.frexp(amax.astype(np.float64))
    m, k = 2 * significand, exponent - 1
    if rule == "round-up":
        d = (amax * np.float32(1 / largest)).astype(np.float64)
        return np.ceil(np.log2(d))
    bumps = {
        "floor": m > 2,
        "ceil": m > 1,
        "even": m >= 2 - 2.0 ** -(bits + 1),
        "nearest": m >= 1.5,
    }
    return k - emax + bumps[rule]


def scaled(name, rule, x):
    """Each value's scale under the format."""
    if name in MX:
        amax = np.abs(x).reshape(-1, 32).max(1)
        return np.repeat(2.0 ** exponents(rule, MX[name], amax), 32).reshape(x.shape)
    if name in CFLOAT8:
        return np.full(x.shape, 2.0 ** exponents(rule, CFLOAT8[name], np.abs(x).max()))
    if name == "nvfp4":
        outer = np.float32(np.abs(x).max()) / np.float32(6 * 448)
        amax = np.abs(x).reshape(-1, 16).max(1)
        inner = (amax / np.float32(6) / outer).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
        return np.repeat(inner * outer, 16).reshape(x.shape)
    across, along = {"fp8_tensor": x.shape, "fp8_row": (1, x.shape[1]), "fp8_block": (128, 128),
                     "fp8_group": (1, 128)}[name.replace("e5m2_", "")]  # fmt: skip
    across = min(across, x.shape[0])
    amax = np.abs(x).reshape(-(-x.shape[0] // across), across, -1, along).max((1, 3))
    scale = amax / np.float32(57344 if "e5m2" in name else 448)
    return np.repeat(np.repeat(scale, across, 0), along, 1)


def expected(name, rule, x):
    element = (MX | CFLOAT8).get(name, "e2m1" if name == "nvfp4" else "e5m2" if "e5m2" in name else "e4m3")
    scale = scaled(name, rule, x)
    quotient = x.astype(np.float64) / scale if name in MX | CFLOAT8 else x / scale
    y = (rounded(element, quotient) * scale.astype(np.float64)).astype(np.float32).astype(np.float64)
    x = x.astype(np.float64)
    block = x.size if name in CFLOAT8 else {"nvfp4": 16}.get(name, 32)
    beyond = np.abs(x) / scale > ELEMENTS[element][1] * (1 + 2.0**-19)
    return {
        "mean_relative_error": np.mean(np.abs(y - x) / np.abs(x)),
        "qsnr_db": 10 * np.log10(np.sum(x * x) / np.sum((y - x) ** 2)),
        "clipped_blocks": beyond.reshape(-1, block).any(1).mean() if beyond.any() else 0,
    }


@pytest.mark.parametrize("source", SOURCES)
def test_every_format_and_rule_is_as_numpy_says(source):
    x = SOURCES[source]()
    rows = rows_of("--distribution", source, "--samples", SAMPLES)
    assert {name for name, _ in rows} == {*MX, *CFLOAT8, "nvfp4", "fp8_tensor", "fp8_row", "fp8_e5m2_tensor",
                                         "fp8_e5m2_row", "fp8_block", "fp8_group"}
    assert {rule for name, rule in rows if name == "mxfp4"} == {
        "floor", "ceil", "even", "round-up", "nearest"
    }  # fmt: skip
    for (name, rule), row in rows.items():
        want = expected(name, rule, x)
        # The samples agree but for the last bit of a few.
        for figure in ("mean_relative_error", "qsnr_db"):
            assert row[figure] == pytest.approx(want[figure], rel=1e-5), (name, rule, figure)
        assert row["clipped_blocks"] == pytest.approx(want["clipped_blocks"], abs=1e-3), (name, rule)
        assert row["zeros"] == row["lost"] == 0


def test_sizes():
    rows = rows_of("--samples", 1 << 14)
    # The RFC: 33, 25 and 17 bytes.
    assert rows["mxfp8_e4m3", "floor"]["bytes_per_block"] == 33
    assert rows["mxfp6_e2m3", "floor"]["bytes_per_block"] == 25
    assert rows["mxfp4", "floor"]["bytes_per_block"] == 17
    assert rows["fp8_row", "nearest"]["bytes_per_block"] is None
    assert rows["nvfp4", "nearest"]["bits_per_value"] == 4.5 + 32 / (1 << 14)


def test_presets_are_rows_of_their_formats():
    source = json.loads(octavo("--format", "nvfp4", "--samples", 4096, "--json"))["sources"][0]
    presets = [row["preset"] for row in source["rows"]]
    assert presets[0] is None and {"torchao", "transformer-engine", "modelopt"} <= set(presets)


def test_threads_and_seed():
    arguments = ("--format", "mxfp4", "--distribution", "normal", "--samples", 100_000, "--json")
    one = octavo(*arguments, "--threads", 1)
    assert one == octavo(*arguments, "--threads", 3)
    assert one != octavo(*arguments, "--seed", 7)
    assert json.loads(one)["sources"][0]["shape"] == [25, 4096]


# Tensors of files.


@pytest.fixture()
def weights(tmp_path):
    x = np.random.default_rng(1).standard_t(4, (8, 96)).astype(np.float32)
    x[0, :40] = 0
    tensors = {
        "layer.weight": x,
        "layer.bf16": x.astype(ml_dtypes.bfloat16),
        "layer.f16": x.astype(np.float16),
        "layer.fp8": x.astype(ml_dtypes.float8_e4m3fn),
        "scalar": np.array(3, np.float32),
        "zeros": np.zeros(64, np.float32),
        "empty": np.zeros((0, 32), np.float32),
        "odd": np.array([1, np.nan], np.float32),
    }
    safetensors.numpy.save_file(tensors, tmp_path / "model.safetensors")
    return tmp_path, x


def test_tensors_of_a_file_and_of_a_folder(weights):
    folder, x = weights
    for path in (folder, folder / "model.safetensors"):
        arguments = ("--weights", path, "--tensor", "layer.weight", "--format", "mxfp4")
        row = rows_of(*arguments)["mxfp4", "even"]
        assert row["zeros"] == 40
        nonzero = np.where(x == 0, 1, x)  # any value: masked below
        amax = np.abs(x).reshape(-1, 32).max(1)
        amax[amax == 0] = 1
        scale = np.repeat(2.0 ** exponents("even", "e2m1", amax), 32).reshape(x.shape)
        y = rounded("e2m1", x.astype(np.float64) / scale) * scale
        assert row["mean_relative_error"] == pytest.approx(
            (np.abs((y - x) / nonzero))[x != 0].mean(), rel=1e-9
        )
    text = octavo(*arguments)
    assert "layer.weight: 8 x 96 values, 40 of them zeros" in text


@pytest.mark.parametrize("name", ["layer.bf16", "layer.f16"])
def test_halves(weights, name):
    folder, x = weights
    half = x.astype(ml_dtypes.bfloat16 if name == "layer.bf16" else np.float16)
    safetensors.numpy.save_file({"x": half.astype(np.float32)}, folder / "f32.safetensors")
    assert rows_of("--weights", folder / "model.safetensors", "--tensor", name) == rows_of(
        "--weights", folder / "f32.safetensors", "--tensor", "x"
    )


def test_odd_tensors(weights):
    path = weights[0] / "model.safetensors"
    scalar = rows_of("--weights", path, "--tensor", "scalar")["mxfp4", "floor"]
    assert scalar["mean_relative_error"] == 0 and scalar["qsnr_db"] is None
    for name, zeros in (("zeros", 64), ("empty", 0)):
        row = rows_of("--weights", path, "--tensor", name)["mxfp4", "floor"]
        assert row["zeros"] == zeros
        assert row["mean_relative_error"] is None and row["qsnr_db"] is None
        assert name in octavo("--weights", path, "--tensor", name, "--plot", weights[0] / "a.svg")


# The RFC.


def test_rfc_ranges_are_as_numpy_says():
    rules = {row["rule"]: row for row in json.loads(octavo("--rfc", "--json"))["rfc"]}
    assert list(rules)[0] == "floor" and len(rules) == 5
    floor = {figure["format"]: figure for figure in rules["floor"]["figures"]}
    published = {"mxfp8_e5m2": 4.7, "mxfp8_e4m3": 2.4, "mxfp6_e3m2": 5.0, "mxfp6_e2m3": 5.0, "mxfp4": 16}
    assert {name: figure["rfc_percent"] for name, figure in floor.items()} == published
    given = {}
    for name, percent in published.items():
        half = 0.5 if percent == 16 else 0.05
        for first, last in floor[name]["bounds_that_give_it"]:
            x = uniform(-last, last, 1 << 18)
            error = 100 * expected(name, "floor", x)["mean_relative_error"]
            assert percent - half - 1e-4 <= error <= percent + half + 1e-4, (name, last)
            given.setdefault(name, []).append((first, last))
    assert set(given) == set(published)
    # No bound lies in a range of each figure: what the text says.
    for a in np.arange(1, 2, 0.01):
        assert not all(any(f <= a <= l for f, l in ranges) for ranges in given.values())
    assert rules["floor"]["figures_given_at_best"] == 4


# Picture and page.


def test_plot(tmp_path):
    path = tmp_path / "errors.svg"
    octavo("--samples", 1 << 14, "--plot", path, "--format", "mxfp4", "--format", "nvfp4")
    svg = xml.etree.ElementTree.parse(path).getroot()
    names = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    for name in ("mxfp4", "nvfp4", "uniform:-1,1", "normal", "student-t:5", "floor"):
        assert name in names
    titles = [title.text for title in svg.iter("{http://www.w3.org/2000/svg}title")]
    # Three sources, two panels; mxfp4 has five rules, nvfp4 one.
    assert len([title for title in titles if title.startswith("mxfp4 ")]) >= 3 * 2 * 5
    assert any(title.startswith("nvfp4 nearest") and title.endswith(" dB") for title in titles)
    assert os.listdir(tmp_path) == ["errors.svg"]


def test_names_are_text_in_the_plot(tmp_path):
    name = "a<b>&'c\""
    safetensors.numpy.save_file({name: np.ones(32, np.float32)}, tmp_path / "a.safetensors")
    octavo("--weights", tmp_path / "a.safetensors", "--tensor", name, "--plot", tmp_path / "a.svg")
    svg = xml.etree.ElementTree.parse(tmp_path / "a.svg").getroot()
    assert name in [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]


def test_the_page_shows_what_the_command_prints(tmp_path):
    """Blocks of the page that begin with `$ octavo analyze ...` are what it prints."""
    page = (DOCS / "commands/analyze.md").read_text()
    blocks = [part.split("```")[0] for part in page.split("```text\n")[1:]]
    assert len(blocks) >= 2
    released = [word for name in RELEASED for word in ("--format", name)] if TRIAL else []
    for block in blocks:
        command, output = block.split("\n", 1)
        assert command.startswith("$ octavo analyze"), command
        arguments = command.split()[3:]
        if not {"--format", "--rfc"} & set(arguments):
            arguments += released
        assert octavo(*arguments, cwd=encoder_inputs.model_folder()) == output, command
    octavo("--plot", tmp_path / "analyze.svg", *released)
    assert (tmp_path / "analyze.svg").read_text() == (DOCS / "images/analyze.svg").read_text()


# Bad input.


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--format", "mxfp5"], ['no scaled format "mxfp5"', "mxfp4"]),
        (["--format", "mxfp4:96"], ['no scaled format "mxfp4:96"', "a power of two from 8 to 1024"]),
        (["--distribution", "laplace"], ['no distribution "laplace"', "uniform:LOW,HIGH"]),
        (["--distribution", "uniform:1,-1"], ["LOW < HIGH"]),
        (["--samples", "0"], ["--samples"]),
        (["--threads", "-1"], ["--threads: Value", "not in range 1 to 4096"]),
        (["--threads", "0"], ["--threads: Value", "not in range 1 to 4096"]),
        (["--tensor", "x"], ["--weights"]),
        (["--weights", "x.safetensors"], ["--tensor"]),
        (["--rfc", "--format", "mxfp4"], ["--rfc", "--format"]),
        (["--polt", "x.svg"], ["--plot"]),
    ],
)
def test_usage_errors(arguments, words):
    message = octavo(*arguments, code=2)
    for word in [*words, "octavo analyze --help"]:
        assert word in message


def test_an_instruction_set_that_is_none():
    assert "OCTAVO_ISA" in octavo("--samples", 32, code=2, OCTAVO_ISA="sse9")


@pytest.mark.parametrize(
    "tensor, words",
    [
        ("layer.weigth", ['no tensor "layer.weigth"', "did you mean layer.weight"]),
        ("layer.fp8", ["layer.fp8", "F8_E4M3", "F32, BF16 or F16"]),
        ("odd", ["odd", "value 1 is nan"]),
    ],
)
def test_tensor_errors(weights, tensor, words):
    message = octavo("--weights", weights[0] / "model.safetensors", "--tensor", tensor, code=3)
    for word in ["model.safetensors", *words]:
        assert word in message


def test_file_errors(tmp_path):
    assert "none.safetensors" in octavo(
        "--weights", tmp_path / "none.safetensors", "--tensor", "x", code=3
    )
    assert "missing" in octavo("--samples", 32, "--plot", tmp_path / "missing/a.svg", code=3)
