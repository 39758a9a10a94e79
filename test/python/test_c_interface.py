"""octavo_program.h, called through ctypes: what it refuses of a caller, and what it then has not written."""
import ctypes
import re

import ml_dtypes
import numpy as np
import pytest

from compiled_folder import BIN, HEADER, octavo

pytestmark = pytest.mark.mlir


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("element_bytes", ctypes.c_size_t),
                ("rank", ctypes.c_size_t), ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t),
                ("items_axis", ctypes.c_int), ("item_extent", ctypes.c_int64), ("item_bytes", ctypes.c_size_t)]


@pytest.fixture(scope="module")
def library():
    loaded = ctypes.CDLL(str(BIN / "liboctavo-program.so"))
    loaded.octavo_program_load.restype = ctypes.c_void_p
    loaded.octavo_last_error.restype = ctypes.c_char_p
    for name in ("argument", "result"):
        getattr(loaded, f"octavo_program_{name}").restype = Tensor
        getattr(loaded, f"octavo_program_{name}_count").restype = ctypes.c_size_t
    for name in ("least", "most"):
        getattr(loaded, f"octavo_program_{name}_items").restype = ctypes.c_int64
    return loaded


class Program:
    def __init__(self, library, folder, text):
        (folder / "p.mlir").write_text(text)
        octavo("compile", folder / "p.mlir", "-o", folder / "folder")
        self.library = library
        self.handle = ctypes.c_void_p(library.octavo_program_load(str(folder / "folder").encode()))
        assert self.handle.value, library.octavo_last_error()

    def run(self, arguments, results):
        """Empty, or what is wrong. Addresses, arrays, or None for the list itself."""
        def listed(each):
            if each is None:
                return None
            return (ctypes.c_void_p * max(1, len(each)))(
                *(place.ctypes.data if isinstance(place, np.ndarray) else place for place in each))
        code = self.library.octavo_program_run(self.handle, listed(arguments), listed(results))
        return "" if code == 0 else self.library.octavo_last_error().decode()


@pytest.fixture
def program(library, tmp_path):
    made = []

    def make(text):
        made.append(Program(library, tmp_path, text))
        return made[-1]
    yield make
    for each in made:
        library.octavo_program_free(each.handle)


TWO = """
func.func @main(%x: tensor<8xf32> {octavo.name = "x"}, %y: tensor<8xf32> {octavo.name = "y"})
    -> (tensor<8xf32> {octavo.name = "sum"}, tensor<8xf32> {octavo.name = "product"}) {
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  %1 = stablehlo.multiply %x, %y : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}"""


def test_null_pointers_are_refused(library, program):
    two = program(TWO)
    x, y, sums, products = (np.full(8, value, np.float32) for value in (3, 4, 0, 0))
    assert two.run([x, y], [sums, products]) == "" and (sums == 7).all() and (products == 12).all()
    assert two.run(None, [sums, products]) == "the array of arguments is a null pointer"
    assert two.run([x, y], None) == "the array of results is a null pointer"
    assert two.run([x, None], [sums, products]) == 'argument 1 ("y") is a null pointer'
    assert two.run([x, y], [sums, None]) == 'result 1 ("product") is a null pointer'
    assert library.octavo_program_run(None, None, None) == -1
    assert library.octavo_last_error() == b"the program is a null pointer"
    for name in ("argument", "result"):
        assert getattr(library, f"octavo_program_{name}_count")(None) == 0
        assert getattr(library, f"octavo_program_{name}")(None, 0).name is None
    assert library.octavo_program_least_items(None) == library.octavo_program_most_items(None) == 0
    library.octavo_program_free(None)
    assert library.octavo_program_load(None) is None


def test_results_that_overlap_are_refused(program):
    two = program(TWO)
    memory = np.zeros(64, np.float32)
    at = memory.ctypes.data

    def run(x, y, sums, products):
        memory[:] = np.arange(64)
        return two.run([at + 4 * place for place in (x, y)], [at + 4 * place for place in (sums, products)])

    for products in (24, 23, 31, 17):
        assert run(0, 8, 24, products) == 'result 1 ("product") shares memory with result 0 ("sum")', products
        assert (memory == np.arange(64)).all()
    for sums in (1, 7, 9, 15):
        message = run(0, 8, sums, 40)
        assert re.fullmatch(r'result 0 \("sum"\) shares memory with argument \d \("[xy]"\), but not from the first byte '
                            'to the last', message), (sums, message)
        assert (memory == np.arange(64)).all()
    # Beside one another, and in the place of arguments.
    for places in ((0, 8, 16, 24), (0, 8, 0, 8), (0, 8, 8, 0), (0, 0, 0, 8)):
        x, y = (np.arange(64, dtype=np.float32)[place:place + 8] for place in places[:2])
        assert run(*places) == "", places
        assert (memory[places[2]:places[2] + 8] == x + y).all() and (memory[places[3]:places[3] + 8] == x * y).all(), places


@pytest.mark.parametrize("type, bits", [("i1", 1), ("f4E2M1FN", 4), ("f6E2M3FN", 6), ("f6E3M2FN", 6), ("ui4", 4), ("ui2", 2)])
def test_codes_beyond_the_width_are_refused(program, type, bits):
    moved = program(f"""
func.func @main(%x: tensor<70000x{type}> {{octavo.name = "x"}}) -> tensor<70000x{type}> {{
  %0 = stablehlo.reverse %x, dims = [0] : tensor<70000x{type}>
  return %0 : tensor<70000x{type}>
}}""")
    x = np.arange(70000).astype(np.uint8) % 2**bits
    y = np.full(70000, 255, np.uint8)
    assert moved.run([x], [y]) == "" and (y == x[::-1]).all()
    for at in (0, 1234, 69999):
        for code in (2**bits, 255):
            wrong, y = x.copy(), np.full(70000, 255, np.uint8)
            wrong[at] = code
            message = moved.run([wrong], [y])
            assert message.startswith(f'argument 0 ("x") has 0x{code:02x} at element {at}, which is not a code of {type}'), message
            assert f"{bits} bit" in message and (y == 255).all()


@pytest.mark.parametrize("type, dtype", [("i4", ml_dtypes.int4), ("i2", ml_dtypes.int2)])
def test_narrow_integers_may_have_their_sign_above(program, type, dtype):
    """As C and ml_dtypes have them. What they hold is not written to."""
    widened = program(f"""
func.func @main(%x: tensor<16x{type}> {{octavo.name = "x"}}) -> tensor<16xi32> {{
  %0 = stablehlo.convert %x : (tensor<16x{type}>) -> tensor<16xi32>
  return %0 : tensor<16xi32>
}}""")
    values = np.resize(np.arange(ml_dtypes.iinfo(dtype).min, ml_dtypes.iinfo(dtype).max + 1), 16)
    found = np.zeros(16, np.int32)
    signed = values.astype(np.int8)
    assert widened.run([signed], [found]) == "" and (found == values).all() and (signed == values).all()
    low = signed.view(np.uint8) & (2**int(type[1:]) - 1)
    assert widened.run([low], [found]) == "" and (found == values).all()
    assert "0x75 at element 3" in widened.run([np.array([0, 1, 0, 0x75] * 4, np.uint8)], [found])


def test_the_structure_is_the_header_s():
    text = (HEADER / "octavo_program.h").read_text()
    body = re.sub(r"/\*.*?\*/", "", text[text.index("typedef struct octavo_tensor {"):], flags=re.S)
    names = re.findall(r"\*?\s(\w+);", body[:body.index("} octavo_tensor;")])
    assert names == [name for name, _ in Tensor._fields_]
