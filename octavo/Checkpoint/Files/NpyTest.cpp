#include "octavo/Checkpoint/Files/Npy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <unistd.h>

namespace octavo::checkpoint {
namespace {

using format::element;
using numerics::ElementType;
using numerics::IntegerType;
using numerics::Tensor;

std::string npyImage(const std::string& header, const std::string& data = "", int version = 1,
                     std::optional<std::uint32_t> length = std::nullopt) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  const std::uint32_t n = length.value_or(header.size());
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += static_cast<char>(n >> (8 * i) & 0xff);
  return text + header + data;
}

std::string header(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

auto parseNpy(const std::string& text, const std::string& name = "x.npy") {
  return readNpy(InputFile::ofMemory(std::as_bytes(std::span(text)), name));
}

TEST(Npy, readsEachType) {
  const std::string data(16, '\1');
  struct {
    const char* descr;
    ElementType type;
    int bytes;
  } const cases[] = {
      {"|b1", IntegerType{1, false}, 1},
      {"|i1", IntegerType{8, false}, 1},
      {"|u1", IntegerType{8, true}, 1},
      {"<i2", IntegerType{16, false}, 2},
      {"<u2", IntegerType{16, true}, 2},
      {"<i4", IntegerType{32, false}, 4},
      {"<u4", IntegerType{32, true}, 4},
      {"<i8", IntegerType{64, false}, 8},
      {"<u8", IntegerType{64, true}, 8},
      {"<f2", element("f16"), 2},
      {"<f4", element("f32"), 4},
      {"<f8", element("f64"), 8},
      {"<c8", numerics::ComplexType{&element("f32")}, 8},
      {"float8_e4m3", element("e4m3"), 1},
      {"float8_e3m4", element("e3m4"), 1},
      {"float8_e4m3b11fnuz", element("e4m3b11fnuz"), 1},
      {"bfloat16", element("bf16"), 2},
      {"float6_e2m3fn", element("e2m3fn"), 1},
      {"float4_e2m1fn", element("e2m1fn"), 1},
      {"int4", IntegerType{4, false}, 1},
      {"uint2", IntegerType{2, true}, 1},
  };
  for (const auto& each : cases)
    for (int version : {1, 2, 3}) {
      const auto tensor = parseNpy(
          npyImage(header(each.descr, "False", "(2,)"), data.substr(0, 2 * each.bytes), version));
      ASSERT_TRUE(tensor) << tensor.error().message();
      EXPECT_EQ(tensor->type, each.type) << each.descr;
      EXPECT_EQ(tensor->shape, std::vector<std::int64_t>{2});
      EXPECT_EQ(tensor->bytes.size(), 2u * each.bytes);
    }
}

// What numpy.save writes for ml_dtypes, and codes stored as integers, in files whose name has the
// type.
TEST(Npy, theNameOfTheFileSaysTheTypeOfCodes) {
  struct {
    const char* name;
    const char* descr;
    ElementType type;
  } const cases[] = {
      {"x.float8_e4m3.npy", "<V1", element("e4m3")},
      {"x.f8E3M4.npy", "|V1", element("e3m4")},
      {"x.e5m2.npy", "<f1", element("e5m2")},
      {"x.f6E3M2FN.npy", "|u1", element("e3m2fn")},
      {"x.y.i4.npy", "|u1", IntegerType{4, false}},
      {"dir.i4/x.uint2.npy", "<V1", IntegerType{2, true}},
      {"x.f8E4M3.npy", "|b1", IntegerType{1, false}}, // a header that states the type
  };
  for (const auto& each : cases) {
    const auto tensor =
        parseNpy(npyImage(header(each.descr, "False", "(2,)"), std::string("\0\1", 2)), each.name);
    ASSERT_TRUE(tensor) << tensor.error().message();
    EXPECT_EQ(tensor->type, each.type) << each.name;
    EXPECT_EQ(tensor->code(1), 1u);
  }
  EXPECT_EQ(parseNpy(npyImage(header("<V2", "False", "(1,)"), "12"), "x.bf16.npy")->type,
            ElementType(element("bf16")));
  EXPECT_FALSE(parseNpy(npyImage(header("<V2", "False", "(1,)"), "12"), "x.f8E4M3.npy"));
  EXPECT_FALSE(parseNpy(npyImage(header("<V1", "False", "(1,)"), "1"), "x.f32.npy"));
}

// -1 in 4 bits: ml_dtypes writes 0x0f, an array of int8 has 0xff.
TEST(Npy, theSignOfANarrowIntegerMayFillItsByte) {
  const auto tensor = parseNpy(npyImage(header("int4", "False", "(2,)"), "\17\377"));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->code(0), 0xfu);
  EXPECT_EQ(tensor->code(1), 0xfu);
}

TEST(Npy, fortranOrderBecomesRowMajor) {
  // numpy.asfortranarray([[0, 1, 2], [3, 4, 5]]) is stored as 0 3 1 4 2 5.
  const auto matrix =
      parseNpy(npyImage(header("|u1", "True", "(2, 3)"), std::string("\0\3\1\4\2\5", 6)));
  ASSERT_TRUE(matrix);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(matrix->code(i), static_cast<std::uint64_t>(i));
  // arange(8).reshape(2, 2, 2) is stored as 0 4 2 6 1 5 3 7.
  const auto cube =
      parseNpy(npyImage(header("|u1", "True", "(2, 2, 2)"), std::string("\0\4\2\6\1\5\3\7", 8)));
  ASSERT_TRUE(cube);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(cube->code(i), static_cast<std::uint64_t>(i));
  EXPECT_TRUE(parseNpy(npyImage(header("<f4", "True", "(3, 0)"))));
}

TEST(Npy, readsHeadersInOtherSpellings) {
  EXPECT_TRUE(parseNpy(npyImage("{\"shape\":(),\"descr\":\"|u1\",\"fortran_order\":False}", "x")));
  EXPECT_TRUE(
      parseNpy(npyImage("{'shape': (1,1), 'descr': '|u1', 'fortran_order': False}   ", "x")));
}

TEST(Npy, refusesWhatIsWrongAndSaysWhat) {
  const std::string good = header("<f4", "False", "(2,)");
  struct {
    const char* what;
    std::string bytes;
    std::vector<std::string> words;
  } const cases[] = {
      {"empty", "", {"not a .npy file", "an empty file"}},
      {"a zip", "PK\3\4aaaaaaaa", {"not a .npy file", ".safetensors"}},
      {"magic only", "\x93NUMPY", {"ends inside its header"}},
      {"version 9", npyImage(good, "12345678", 9), {"unknown version", "found 9"}},
      {"short version 2", npyImage("", "", 2).substr(0, 11), {"ends inside its header"}},
      {"header beyond the file",
       npyImage(good, "", 1, 60000),
       {"header length", "60000", "cut short"}},
      {"header beyond the file, version 2", npyImage(good, "", 2, 0xffffffff), {"4294967295"}},
      {"no dict", npyImage("[]"), {"cannot be read", "a dict"}},
      {"no end", npyImage("{'descr': '<f4'"), {"',' or '}'", "its end"}},
      {"no shape", npyImage("{'descr': '<f4', 'fortran_order': False}"), {"each once"}},
      {"a key twice", npyImage("{'descr': '<f4', 'descr': '<f4'}"), {"each once"}},
      {"an unknown key", npyImage("{'order': 1}"), {"each once"}},
      {"more after the dict", npyImage(good + "x"), {"nothing after the dict", "\"x\""}},
      {"open string", npyImage("{'descr"), {"a key in quotes"}},
      {"a structured type", npyImage("{'descr': [('a', '<f4')]}"), {"structured"}},
      {"order not boolean", npyImage("{'fortran_order': 1}"), {"True or False"}},
      {"negative extent", npyImage(header("<f4", "False", "(-2,)")), {"0 to 2^63 - 1", "\"-2"}},
      {"float extent", npyImage(header("<f4", "False", "(2.0,)")), {"0 to 2^63 - 1"}},
      {"not a tuple", npyImage(header("<f4", "False", "(2)"), "12345678"), {"a tuple"}},
      {"two numbers in a row", npyImage(header("<f4", "False", "(2 2)")), {"a tuple"}},
      {"extent too large",
       npyImage(header("<f4", "False", "(9223372036854775808,)")),
       {"2^63 - 1"}},
      {"size too large",
       npyImage(header("<f4", "False", "(4294967296, 4294967296)")),
       {"exceeds 2^63 - 1 bytes", "[4294967296, 4294967296]"}},
      {"size too large under a zero",
       npyImage(header("<f4", "True", "(4294967296, 4294967296, 0)")),
       {"exceeds 2^63 - 1"}},
      {"data cut short",
       npyImage(good, "1234567"),
       {"8 bytes for <f4 [2]", "found 7", "cut short"}},
      {"data too long", npyImage(good, "123456789"), {"found 9 bytes"}},
      {"big-endian",
       npyImage(header(">f4", "False", "(2,)"), "12345678"),
       {"\">f4\"", "big-endian"}},
      {"objects", npyImage(header("|O", "False", "(1,)"), "12345678"), {"pickled"}},
      {"extended",
       npyImage(header("<f16", "False", "(1,)"), "1234567812345678"),
       {"\"<f16\"", "one of |b1"}},
      {"float8_e4m3fn by NumPy",
       npyImage(header("<V1", "False", "(1,)"), "1"),
       {"does not keep the types", "x.float8_e4m3fn.npy"}},
      {"bfloat16 by NumPy", npyImage(header("<V2", "False", "(1,)"), "12"), {"x.bfloat16.npy"}},
      {"float8_e5m2 by NumPy",
       npyImage(header("<f1", "False", "(1,)"), "1"),
       {"in the file's name"}},
      {"a code of 7 bits",
       npyImage(header("float6_e2m3fn", "False", "(2,)"), "\1\100"),
       {"element 1 is not a code of f6E2M3FN", "found 64"}},
      {"a uint4 of 255", npyImage(header("uint4", "False", "(1,)"), "\377"), {"code of ui4"}},
      {"an int4 of 127", npyImage(header("int4", "False", "(1,)"), "\177"), {"code of i4"}},
      {"a boolean of 2", npyImage(header("|b1", "False", "(1,)"), "\2"), {"0 or 1", "found 2"}},
  };
  for (const auto& each : cases) {
    const auto tensor = parseNpy(each.bytes);
    if (tensor) {
      ADD_FAILURE() << each.what << ": accepted";
      continue;
    }
    const std::string message = tensor.error().message();
    EXPECT_EQ(message.rfind("x.npy: ", 0), 0u) << message;
    for (const std::string& word : each.words)
      EXPECT_NE(message.find(word), std::string::npos)
          << each.what << ": no \"" << word << "\" in: " << message;
  }
}

TEST(Npy, everyPrefixOfAFileIsRefused) {
  const std::string whole = npyImage(header("<f4", "False", "(2,)"), "12345678");
  ASSERT_TRUE(parseNpy(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parseNpy(whole.substr(0, length))) << length;
}

// What numpy.save writes for numpy.array([[1, 2]], float32): the header line, 118 bytes.
TEST(Npy, writesTheBytesOfNumpy) {
  std::string name = (std::filesystem::temp_directory_path() / "octavo-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  Tensor tensor = Tensor::zeros(element("f32"), {1, 2});
  tensor.as<float>()[0] = 1;
  tensor.as<float>()[1] = 2;
  ASSERT_TRUE(writeNpy(folder / "x.npy", tensor));
  std::ifstream stream(folder / "x.npy", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::string line = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  line.resize(117, ' ');
  EXPECT_EQ(text, npyImage(line + "\n", std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
  EXPECT_EQ(*readNpy(folder / "x.npy"), tensor);

  const Tensor narrow = Tensor::zeros(element("e5m2"), {3});
  ASSERT_TRUE(writeNpy(folder / "y.npy", narrow));
  EXPECT_EQ(*readNpy(folder / "y.npy"), narrow);

  const auto none = writeNpy(folder / "z.npy", Tensor::zeros(IntegerType{3, false}, {1}));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("found i3; convert it to a wider type"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "z.npy"));
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace octavo::checkpoint
