"""`octavo checkpoint report`: the page is whole, needs nothing else, and says what the files hold."""

import html.parser
import json
import os
import re
import subprocess
from pathlib import Path

import checkpoint_model as model
import ml_dtypes
import numpy as np

BIN = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"


def octavo(*arguments, code=0):
    run = subprocess.run([BIN, "checkpoint", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert run.returncode == code, run.stderr
    return run.stdout + run.stderr


class Page(html.parser.HTMLParser):
    """Text of table rows, and whether every element is closed in turn."""

    VOID = {"meta", "rect", "wbr"}

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.text, self.links = [], [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if {"td", "th"} & set(self.open) and "title" not in self.open:
            self.rows[-1][-1] += data


def test_the_page_says_what_the_files_hold(tmp_path):
    weights = model.weights()
    model.write(tmp_path / "plain", weights)
    octavo("quantize", tmp_path / "plain", "-o", tmp_path / "fp8", "--layout", "deepseek", "--format", "fp8_block")
    octavo("report", tmp_path / "fp8", "--against", tmp_path / "plain", "-o", tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text())
    assert page.open == [] and page.links == []

    rows = {row[0]: row for row in page.rows}
    name = "model.layers.0.self_attn.q_proj.weight"
    x = weights[name].astype(np.float32)
    scale = np.float32(np.abs(x).max()) / np.float32(448)  # one block of 128 x 128
    codes = (x / scale).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    error = np.linalg.norm((codes * scale - x).astype(np.float64)) / np.linalg.norm(x.astype(np.float64))
    row = rows[name]
    assert row[1:4] == ["fp8_block", "128 x 128", "16.4 kB"]
    assert abs(float(row[5].rstrip("%")) / (100 * error) - 1) < 0.01
    assert row[7].startswith("nearest")
    assert row[8] == f"{100 * (np.abs(codes) == 448).mean():.2g}%" and row[9] == f"{scale:.3g}"
    assert len([row for row in rows if row.endswith("_proj.weight")]) == 14
    assert rows["fp8_block"][1] == "14" and "deepseek" in page.text

    report = json.loads(octavo("report", tmp_path / "fp8", "--against", tmp_path / "plain", "--json"))
    assert (report["layout"], len(report["layers"])) == ("deepseek", 14)
    (layer,) = [each for each in report["layers"] if each["name"] == name]
    assert (layer["format"], layer["shape"], layer["codes"]) == ("fp8_block", [128, 128], 128 * 128)
    assert layer["codes_at_max"] == (np.abs(codes) == 448).sum()
    assert layer["scales"]["count"] == 1 and np.float32(layer["scales"]["largest"]) == scale
    assert abs(layer["difference"]["rms"] / error - 1) < 1e-6


def test_names_and_findings_are_text_and_not_markup(tmp_path):
    name = 'a.<script>alert("x")</script>&\u202e.weight'
    codes = np.arange(128 * 128).astype(np.uint8).reshape(128, 128).view(ml_dtypes.float8_e4m3fn)
    model.write(tmp_path / "bad", {name: codes, name + "_scale_inv": np.zeros((1, 1), np.float32)}, config={
        "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
                                "weight_block_size": [128, 128]}})
    octavo("report", tmp_path / "bad", "-o", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    page = Page(text)
    assert page.open == [] and "<script" not in text and "&lt;script&gt;" in text
    assert "zero-scale" in page.text and "nan-code" in page.text


def mixture(layers, experts, rows=32):
    """`experts` of each layer and projection, each of other sizes, and a dense layer."""
    random = np.random.default_rng(1)
    names = [f"model.layers.{i}.mlp.experts.{e}.{part}_proj.weight"
             for i in range(layers) for e in range(experts) for part in ("gate", "up", "down")]
    return {name: (random.standard_normal((rows, 32)) * 2.0 ** random.integers(-6, 2, size=(rows, 1)))
            .astype(np.float32).astype(ml_dtypes.bfloat16) for name in [*names, "model.dense.weight"]}


def test_experts_of_a_projection_share_a_row(tmp_path):
    model.write(tmp_path / "plain", mixture(2, 300))
    octavo("quantize", tmp_path / "plain", "-o", tmp_path / "nvfp4", "--layout", "modelopt", "--format", "nvfp4",
           "--weight-only")
    report = json.loads(octavo("report", tmp_path / "nvfp4", "--against", tmp_path / "plain", "--json",
                               "-o", tmp_path / "page.html"))
    page = Page((tmp_path / "page.html").read_text())
    layers = report["layers"]
    assert len(layers) == 1801
    worst = max(layers, key=lambda layer: layer["difference"]["rms"])["name"]
    rows = page.rows[page.rows.index(next(row for row in page.rows if row[0] == "layer")) + 1:]
    assert len(rows) == 8  # six projections, the dense layer, the worst expert
    assert [row[0] for row in rows if row[0].startswith(worst)] == [worst + "no layer has a larger error"]
    assert (tmp_path / "page.html").stat().st_size < 20_000 and "1801 layers in 8 rows" in page.text

    def expert(layer):
        return "expert " + layer["name"].split(".")[5]

    for i in range(2):
        for part in ("gate", "up", "down"):
            (row,) = [row for row in rows if row[0] == f"model.layers.{i}.mlp.experts.0..299.{part}_proj.weight"
                                                       "300 experts"]
            all_ = [layer for layer in layers if layer["name"].startswith(f"model.layers.{i}.")
                    and layer["name"].endswith(f"{part}_proj.weight")]
            error = max(all_, key=lambda layer: layer["difference"]["rms"])
            largest = max(all_, key=lambda layer: layer["difference"]["max_absolute"])
            full = max(all_, key=lambda layer: layer["codes_at_max"])
            assert row[3] == f"{sum(layer['bytes'] for layer in all_) / 1000:.1f} kB"
            assert row[5] == f"{100 * error['difference']['rms']:.3g}%{expert(error)}"
            assert row[6] == f"{largest['difference']['max_absolute']:.3g}{expert(largest)}"
            assert row[7] == "nearest"
            assert row[8] == f"{100 * full['codes_at_max'] / full['codes']:.2g}%{expert(full)}"
            assert row[9] == (f"{min(layer['scales']['smallest'] for layer in all_):.3g} to "
                              f"{max(layer['scales']['largest'] for layer in all_):.3g}")


def test_experts_with_findings_have_rows_and_a_rule_has_ten(tmp_path):
    model.write(tmp_path / "plain", mixture(1, 120))
    octavo("quantize", tmp_path / "plain", "-o", tmp_path / "fp8", "--layout", "deepseek", "--format", "fp8_block")
    for file in (tmp_path / "fp8").glob("*.safetensors"):
        data = bytearray(file.read_bytes())
        size = int.from_bytes(data[:8], "little")
        for name, entry in json.loads(data[8:8 + size]).items():
            if ".gate_proj.weight_scale_inv" in name and int(name.split(".")[5]) < 30:
                begin, end = (8 + size + offset for offset in entry["data_offsets"])
                data[begin:end] = bytes(end - begin)
        file.write_bytes(data)
    report = json.loads(octavo("report", tmp_path / "fp8", "--json", "-o", tmp_path / "page.html"))
    assert len([each for each in report["findings"] if each["rule"] == "zero-scale"]) == 30
    text = (tmp_path / "page.html").read_text()
    page = Page(text)
    assert text.count("error: zero-scale") == 11 and "20 more, the last" in page.text
    assert len([row for row in page.rows if row[0].endswith("has findings")]) == 3
    assert any(row[0].endswith("120 experts, 30 with findings, the first 3 below") for row in page.rows)


def test_a_page_that_would_be_too_long_says_what_is_left_out(tmp_path):
    random = np.random.default_rng(2)
    tensors = {}
    for i in range(2500):  # f32 scales of many sizes: a long histogram each
        name = f"model.layers.{i}.dense.weight"
        tensors[name] = random.integers(0, 127, size=(64, 8)).astype(np.uint8).view(ml_dtypes.float8_e4m3fn)
        tensors[name + "_scale"] = (2.0 ** random.integers(-60, 60, size=(64, 1))).astype(np.float32)
    model.write(tmp_path / "long", tensors, config={"quantization_config": {
        "quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}})
    report = json.loads(octavo("report", tmp_path / "long", "--json", "-o", tmp_path / "page.html"))
    assert len(report["layers"]) == 2500
    text = (tmp_path / "page.html").read_text()
    assert 1_400_000 < len(text) < 2_000_000
    page = Page(text)
    rows = [row for row in page.rows if row[0].endswith("dense.weight")]
    assert f"{2500 - len(rows)} of 2500 rows are left out" in page.text


def test_errors(tmp_path):
    assert "no such file" in octavo("report", tmp_path / "nowhere", "-o", tmp_path / "page.html", code=3)
    model.write(tmp_path / "plain", model.weights())
    assert "cannot be written" in octavo("report", tmp_path / "plain", "-o", tmp_path / "no/page.html", code=3)
    assert not list(tmp_path.glob("page.html*"))
    assert "No layer is quantized" in (octavo("report", tmp_path / "plain", "-o", tmp_path / "page.html") and
                                       (tmp_path / "page.html").read_text())
    assert re.search(r"--output", octavo("report", tmp_path / "plain", code=2))
