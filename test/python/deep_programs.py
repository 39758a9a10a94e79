"""Programs, in text and as artifacts, that nest deeper than a stack is."""

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
