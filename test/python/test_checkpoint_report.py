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
    assert row[7] == f"{100 * (np.abs(codes) == 448).mean():.2g}%" and row[8] == f"{scale:.3g}"
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


def test_errors(tmp_path):
    assert "no such file" in octavo("report", tmp_path / "nowhere", "-o", tmp_path / "page.html", code=3)
    model.write(tmp_path / "plain", model.weights())
    assert "cannot be written" in octavo("report", tmp_path / "plain", "-o", tmp_path / "no/page.html", code=3)
    assert not list(tmp_path.glob("page.html*"))
    assert "No layer is quantized" in (octavo("report", tmp_path / "plain", "-o", tmp_path / "page.html") and
                                       (tmp_path / "page.html").read_text())
    assert re.search(r"--output", octavo("report", tmp_path / "plain", code=2))
