"""Programs, in text and as artifacts, that nest deeper than a stack is: an error, in octavo and in Python's
process, whatever hides the depth from a reader that is not MLIR's."""

import subprocess
import sys

import numpy as np
import pytest
from commands import OCTAVO
from jaxlib.mlir.dialects import stablehlo

pytestmark = pytest.mark.mlir

N = 200_000


def attribute(text):
    return f"module attributes {{a.m = {text}}} {{ func.func @main(%x: tensor<f32>) -> tensor<f32> {{ return %x : tensor<f32> }} }}\n"


def aliases(prefix, opening, closing, count=20_000, twice=False):
    lines = [f"{prefix}a0 = {opening}{'f32' if prefix == '!' else ''}{closing}"]
    for i in range(count):
        inner = f"{prefix}a{i}, {prefix}a{i}" if twice else f"{prefix}a{i}"
        lines.append(f"{prefix}a{i + 1} = {opening}{inner}{closing}")
    return "\n".join(lines) + "\n" + attribute(f"{prefix}a{count}")


TEXTS = {
    "brackets": attribute("[" * N + "]" * N),
    "dictionaries": attribute("{a = " * N + "1" + "}" * N),
    "types": attribute("tuple<" * N + "f32" + ">" * N),
    "function types": attribute("(" * N + ")" * N),
    "expression": attribute("affine_map<(d0) -> (" + "(" * N + "d0" + ")" * N + ")>"),
    "signs": attribute("affine_map<(d0) -> (" + "-" * N + "d0)>"),
    "sums": attribute("affine_map<(d0) -> (d0" + " + d0 floordiv 3" * N + ")>"),
    "products": attribute("affine_map<(d0)[s0] -> (d0" + " * s0" * N + ")>"),
    "behind an escaped backslash": attribute('["\\\\", ' + "[" * N + "]" * N + "]"),
    "behind an escaped backslash in hex": attribute('["\\5C", ' + "[" * N + "]" * N + "]"),
    "behind a quote in a comment": attribute('[ // "\n' + "[" * N + "]" * N + "]"),
    "between comments that close": attribute("[ // ]\n" * N + "]" * N),
    "behind a dialect's attribute": attribute("[#unknown.a<x // >, " + "[" * N + "]" * N + "\n>]"),
    "locations": "module {} loc(" + '"x"(' * N + '"y"' + ")" * (N + 1) + "\n",
    "aliases of attributes": aliases("#", "[", "]"),
    "aliases of types": aliases("!", "tuple<", ">"),
    "aliases of locations": aliases("#", 'loc("x"(', "))").replace('#a0 = loc("x"())', '#a0 = loc("x")'),
    "aliases that double": aliases("#", "[", "]", 60, twice=True),
    "regions": "func.func @main(%p: tensor<i1>) {\n" + '"stablehlo.if"(%p) ({\n' * N,
}


def run(*arguments):
    return subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("name", TEXTS)
def test_text_that_is_too_deep_is_refused(tmp_path, name):
    (tmp_path / "p.mlir").write_text(TEXTS[name])
    for command in ("run",), ("convert", "-o", tmp_path / "q.mlir"):
        ended = run(command[0], tmp_path / "p.mlir", *command[1:])
        assert ended.returncode == 3, (ended.returncode, ended.stderr[:500])
        assert ended.stderr.startswith("octavo: error: ") and "p.mlir:" in ended.stderr
        assert "octavo reads" in ended.stderr or "stands for more than" in ended.stderr or "does not read" in ended.stderr


def test_what_is_within_the_limits_is_read_and_written(tmp_path):
    deep = 2400
    texts = [attribute("[" * deep + "]" * deep), attribute("tuple<" * deep + "f32" + ">" * deep),
             aliases("#", "[", "]", deep - 2), aliases("!", "tuple<", ">", deep - 2),
             attribute("affine_map<(d0) -> (d0" + " + d0 floordiv 3" * 500 + ")>"),
             attribute("#unknown.a<x // plain words\n>")]
    for text in texts:
        (tmp_path / "p.mlir").write_text(text)
        ended = run("convert", tmp_path / "p.mlir", "-o", tmp_path / "q.mlir")
        assert ended.returncode == 0, (text[:60], ended.returncode, ended.stderr[:500])


def number(value):
    """A number as MLIR's bytecode has it."""
    for more in range(8):
        if value < 1 << (7 * (more + 1)):
            return ((value << (more + 1)) | (1 << more)).to_bytes(more + 1, "little")
    return b"\0" + value.to_bytes(8, "little")


def numbers_of(data, at):
    first = data[at]
    if first == 0:
        return int.from_bytes(data[at + 1:at + 9], "little"), at + 9
    more = (first & -first).bit_length() - 1
    return int.from_bytes(data[at:at + more + 1], "little") >> (more + 1), at + more + 1


def with_text(data, which, text):
    """An artifact whose entry of this number, among attributes and types, is MLIR's text."""
    version, at = numbers_of(data, 4)
    at = data.index(0, at) + 1
    out, sections = bytearray(data[:at]), []
    while at < len(data):
        head, at = data[at], at + 1
        size, at = numbers_of(data, at)
        alignment = None
        if head & 0x80:
            alignment, at = numbers_of(data, at)
            while at % alignment:
                at += 1
        sections.append([head & 0x7F, data[at:at + size], alignment])
        at += size
    by_id = {section[0]: section for section in sections}
    entries, sizes = by_id[2][1], by_id[3][1]
    attributes, p = numbers_of(sizes, 0)
    types, p = numbers_of(sizes, p)
    new_entries, new_sizes, position, k = b"", number(attributes) + number(types), 0, 0
    while p < len(sizes):
        dialect, p = numbers_of(sizes, p)
        count, p = numbers_of(sizes, p)
        new_sizes += number(dialect) + number(count)
        for _ in range(count):
            head, p = numbers_of(sizes, p)
            entry, position = entries[position:position + (head >> 1)], position + (head >> 1)
            is_coded = head & 1
            if k == which:
                entry, is_coded = text + b"\0", 0
            new_entries += entry
            new_sizes += number(len(entry) << 1 | is_coded)
            k += 1
    by_id[2][1], by_id[3][1] = new_entries, new_sizes
    for id, contents, alignment in sections:
        out += bytes([id | (0x80 if alignment else 0)]) + number(len(contents))
        if alignment:
            out += number(alignment)
            while len(out) % alignment:
                out += b"\xcb"
        out += contents
    return bytes(out), k


PROGRAM = """func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
"""
HIDDEN = {name: text[len("module attributes {a.m = "):text.index("} { func")].encode()
          for name, text in TEXTS.items() if text.startswith("module attributes")}


@pytest.mark.parametrize("name", HIDDEN)
def test_artifacts_whose_text_is_too_deep_are_refused(tmp_path, name):
    data = stablehlo.serialize_portable_artifact_str(PROGRAM, "1.17.0")
    _, count = with_text(data, -1, b"")
    for which in (0, 1, count // 2, count - 1):
        (tmp_path / "p.mlirbc").write_bytes(with_text(data, which, HIDDEN[name])[0])
        ended = run("run", tmp_path / "p.mlirbc")
        assert ended.returncode == 3 and "the file is damaged: an attribute or type in MLIR's text that " in ended.stderr, \
            (which, ended.returncode, ended.stderr[:500])


PYTHON = """
import sys, threading, octavo
def read(path):
    for given in (path, open(path, "rb").read()):
        try:
            octavo.compile(given)
        except octavo.Error as error:
            print(type(error).__name__)
for path in sys.argv[1:]:
    read(path)
    thread = threading.Thread(target=read, args=[path])
    thread.start()
    thread.join()
"""


def test_python_lives(tmp_path):
    data = stablehlo.serialize_portable_artifact_str(PROGRAM, "1.17.0")
    paths = []
    for i, text in enumerate(HIDDEN.values()):
        paths.append(tmp_path / f"{i}.mlirbc")
        paths[-1].write_bytes(with_text(data, 0, text)[0])
    for i, text in enumerate(TEXTS.values()):
        paths.append(tmp_path / f"{i}.mlir")
        paths[-1].write_text(text)
    # Within the limits, but deeper than the stack of a thread holds where MLIR reads on it.
    paths.append(tmp_path / "within.mlirbc")
    paths[-1].write_bytes(with_text(data, 0, b"[" * 900 + b"]" * 900)[0])
    ended = subprocess.run([sys.executable, "-c", PYTHON, *map(str, paths)], capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, (ended.returncode, ended.stderr[-2000:])
    assert ended.stdout.splitlines() == ["ProgramError"] * 4 * len(paths), ended.stderr[-2000:]


JSON = """func.func @main() -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<1.0> : tensor<2x32xf8E4M3FN>
  %y = stablehlo.constant dense<0.5> : tensor<3x32xf8E4M3FN>
  %s = stablehlo.constant dense<2.0> : tensor<2x1xf8E8M0FNU>
  %t = stablehlo.constant dense<1.0> : tensor<3x1xf8E8M0FNU>
  %0 = stablehlo.custom_call @__op$block_scaled_dot(%x, %y, %s, %t) {backend_config = "TEXT"} : (tensor<2x32xf8E4M3FN>, tensor<3x32xf8E4M3FN>, tensor<2x1xf8E8M0FNU>, tensor<3x1xf8E8M0FNU>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""


def test_configurations_that_nest(tmp_path):
    """The configuration of a custom call is text within text, and JSON: what nests too deep says nothing."""
    for text in ("", "[" * N, r'{\22a\22: ' * N, r"[\22\\\22, " + "[" * N):
        (tmp_path / "p.mlir").write_text(JSON.replace("TEXT", text))
        for options in ([], ["--backend", "reference"], ["--recover-scaled"]):
            ended = run("run", tmp_path / "p.mlir", "--output", tmp_path / "out.npy", *options)
            assert ended.returncode == 0, (ended.returncode, ended.stderr[:300])
            assert (np.load(tmp_path / "out.npy") == 32).all()  # 32 * 1 * 2 * 0.5
