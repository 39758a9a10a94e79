#include "octavo/Checkpoint/Files/Safetensors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace octavo::checkpoint {
namespace {

using format::element;
using numerics::ElementType;
using numerics::IntegerType;
using numerics::Tensor;

/// A file image: header length, header, data.
std::string image(const std::string& header, const std::string& data = "",
                  std::optional<std::uint64_t> length = std::nullopt) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += static_cast<char>(length.value_or(header.size()) >> (8 * i) & 0xff);
  return text + header + data;
}

auto parse(const std::string& text) {
  return SafetensorsFile::open(
      InputFile::ofMemory(std::as_bytes(std::span(text)), "model.safetensors"));
}

struct Hostile {
  const char* what;
  std::string bytes;
  std::vector<std::string> words; ///< words that the message must contain
};

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

const std::vector<Hostile>& hostileFiles() {
  const std::string good = "{" + entry("a.weight", "F32", "[2]", "[0,8]") + "}";
  const std::string eight(8, '\1');
  static const std::vector<Hostile> files = {
      {"empty", "", {"too short", "0 bytes"}},
      {"seven bytes", std::string(7, '\0'), {"too short", "7 bytes"}},
      {"no header", image(""), {"does not begin with '{'", "nothing"}},
      {"header length beyond the file",
       image(good, eight, 5000),
       {"header length", "beyond the end of the file", "found 5000", "cut short"}},
      {"header length just beyond the file",
       image("{}", "", 3),
       {"beyond the end of the file", "expected at most 2, found 3"}},
      {"huge header length",
       image(good, eight, 100'000'001),
       {"beyond what the format allows", "100000000", "100000001"}},
      {"header length of all ones",
       image(good, eight, ~std::uint64_t{0}),
       {"beyond what the format allows", "18446744073709551615"}},
      {"leading space", image(" " + good, eight), {"does not begin with '{'", "\" \""}},
      {"an array", image("[]"), {"does not begin with '{'", "\"[\""}},
      {"cut in the header", image("{\"a\":{\"dty"), {"not valid JSON", "at byte 18"}},
      {"two objects", image("{}{}"), {"not valid JSON", "expected end of input"}},
      {"a zero byte after the header",
       image(good + std::string(1, '\0'), eight),
       {"not valid JSON", "zero byte"}},
      {"not UTF-8", image("{\"a\xff\":{}}"), {"not valid JSON", "UTF-8"}},
      {"cut in the data",
       image(good, "\1\1\1\1"),
       {"a.weight", "ends beyond the end of the file", "4 bytes", "[0, 8]", "cut short"}},
      {"bytes after the data",
       image(good, eight + "\1"),
       {"does not end where its last tensor ends", "expected 8 bytes of data, found 9"}},
      {"no data at all but some", image("{}", "x"), {"does not end", "found 1"}},
      {"a name twice",
       image("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("a", "U8", "[1]", "[1,2]") + "}",
             "xy"),
       {"\"a\"", "occurs twice"}},
      {"a key twice",
       image("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}"),
       {"\"a\"", "occurs twice in its entry", "dtype"}},
      {"metadata twice", image("{\"__metadata__\":{},\"__metadata__\":{}}"), {"occurs twice"}},
      {"a metadata key twice",
       image("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}"),
       {"twice in __metadata__", "\"k\""}},
      {"metadata that is not a string",
       image("{\"__metadata__\":{\"k\":1}}"),
       {"__metadata__", "strings only", "found 1"}},
      {"metadata that is an array", image("{\"__metadata__\":[]}"), {"an object", "an array"}},
      {"an unknown dtype",
       image("{" + entry("a", "F8", "[1]", "[0,1]") + "}", "x"),
       {"\"a\"", "no such dtype", "F8_E4M3", "found \"F8\""}},
      {"a dtype in lower case",
       image("{" + entry("a", "f32", "[1]", "[0,4]") + "}", "xxxx"),
       {"no such dtype", "\"f32\""}},
      {"a dtype that is a number",
       image("{\"a\":{\"dtype\":5}}"),
       {"\"dtype\"", "a string", "found 5"}},
      {"an unknown key", image("{\"a\":{\"order\":1}}"), {"unknown key", "\"order\""}},
      {"no dtype",
       image("{\"a\":{\"shape\":[],\"data_offsets\":[0,0]}}"),
       {"\"a\"", "incomplete", "no dtype"}},
      {"no shape", image("{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,0]}}"), {"no shape"}},
      {"no offsets", image("{\"a\":{\"dtype\":\"U8\",\"shape\":[0]}}"), {"no data_offsets"}},
      {"an entry that is a string", image("{\"a\":\"b\"}"), {"an object", "\"b\""}},
      {"an entry that is null", image("{\"a\":null}"), {"an object", "null"}},
      {"a float in the shape",
       image("{" + entry("a", "U8", "[1.0]", "[0,1]") + "}", "x"),
       {"\"shape\"", "whole numbers", "1.0"}},
      {"a negative extent",
       image("{" + entry("a", "U8", "[-1]", "[0,1]") + "}", "x"),
       {"\"shape\"", "0 or more", "-1"}},
      {"a string in the shape",
       image("{" + entry("a", "U8", "[\"1\"]", "[0,1]") + "}", "x"),
       {"\"shape\"", "whole numbers", "\"1\""}},
      {"an array in the shape",
       image("{" + entry("a", "U8", "[[1]]", "[0,1]") + "}", "x"),
       {"\"shape\"", "an array"}},
      {"a shape that is a number",
       image("{" + entry("a", "U8", "1", "[0,1]") + "}", "x"),
       {"\"shape\"", "an array", "found 1"}},
      {"an extent beyond int64",
       image("{" + entry("a", "U8", "[9223372036854775808]", "[0,1]") + "}", "x"),
       {"too large", "9223372036854775808"}},
      {"an extent beyond uint64",
       image("{" + entry("a", "U8", "[18446744073709551616]", "[0,1]") + "}", "x"),
       {"whole numbers", "18446744073709551616"}},
      {"a size that overflows",
       image("{" + entry("a", "F32", "[4294967296,4294967296]", "[0,1]") + "}", "x"),
       {"2^63 - 1", "[4294967296, 4294967296]"}},
      {"a size that overflows to the right one", // 2^62 * 32 bits = 0 in 64 bits
       image("{" + entry("a", "F32", "[4611686018427387904]", "[0,0]") + "}"),
       {"2^63 - 1"}},
      {"an overflow that a zero hides",
       image("{" + entry("a", "U8", "[4611686018427387904,4611686018427387904,0]", "[0,0]") + "}"),
       {"2^63 - 1"}},
      {"one offset",
       image("{" + entry("a", "U8", "[1]", "[0]") + "}", "x"),
       {"data_offsets", "too few", "found 1"}},
      {"three offsets",
       image("{" + entry("a", "U8", "[1]", "[0,1,2]") + "}", "x"),
       {"data_offsets", "too many"}},
      {"a float in the offsets",
       image("{" + entry("a", "U8", "[1]", "[0,1e0]") + "}", "x"),
       {"data_offsets", "whole numbers", "1e0"}},
      {"offsets the wrong way round",
       image("{" + entry("a", "U8", "[1]", "[1,0]") + "}", "x"),
       {"ends before it begins", "[1, 0]"}},
      {"offsets at the top of uint64",
       image("{" + entry("a", "U8", "[1]", "[18446744073709551614,18446744073709551615]") + "}",
             "x"),
       {"beyond the end of the file", "18446744073709551615"}},
      {"overlap",
       image("{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("b", "U8", "[4]", "[3,7]") + "}",
             "1234567"),
       {"\"b\"", "overlaps that of \"a\"", "[3, 7]"}},
      {"the same bytes twice",
       image("{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("b", "U8", "[4]", "[0,4]") + "}",
             "1234"),
       {"\"b\"", "overlaps that of \"a\""}},
      {"a gap",
       image("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("b", "U8", "[1]", "[2,3]") + "}",
             "123"),
       {"\"b\"", "a gap", "from byte 1", "[2, 3]"}},
      {"a gap at the start",
       image("{" + entry("a", "U8", "[1]", "[1,2]") + "}", "12"),
       {"\"a\"", "a gap", "from byte 0"}},
      {"a length that does not fit the shape",
       image("{" + entry("a", "F32", "[3]", "[0,8]") + "}", eight),
       {"\"a\"", "wrong length", "12 bytes for F32 [3]", "found 8 bytes"}},
      {"an odd number of F4",
       image("{" + entry("a", "F4", "[3]", "[0,2]") + "}", "12"),
       {"\"a\"", "whole bytes", "multiple of 2", "F4 [3]"}},
      {"two F6",
       image("{" + entry("a", "F6_E3M2", "[2]", "[0,2]") + "}", "12"),
       {"whole bytes", "multiple of 4"}},
  };
  return files;
}

TEST(SafetensorsReader, refusesWhatIsWrongAndSaysWhat) {
  for (const Hostile& hostile : hostileFiles()) {
    const auto file = parse(hostile.bytes);
    if (file) {
      ADD_FAILURE() << hostile.what << ": accepted";
      continue;
    }
    const std::string message = file.error().message();
    EXPECT_EQ(message.rfind("model.safetensors: ", 0), 0u) << message;
    for (const std::string& word : hostile.words)
      EXPECT_NE(message.find(word), std::string::npos)
          << hostile.what << ": no \"" << word << "\" in: " << message;
  }
}

TEST(SafetensorsReader, everyPrefixOfAFileIsRefused) {
  const std::string whole =
      image("{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F4", "[4]", "[8,10]") + "}",
            "0123456789");
  ASSERT_TRUE(parse(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parse(whole.substr(0, length))) << length;
}

TEST(SafetensorsReader, namesInMessagesAreFitForATerminal) {
  const auto file = parse(
      image("{" + entry("\\u001b[2J" + std::string(500, 'x'), "U8", "[2]", "[0,1]") + "}", "1"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message().find('\x1b'), std::string::npos);
  EXPECT_NE(file.error().message().find("\\x1b[2J"), std::string::npos);
  EXPECT_LT(file.error().message().size(), 500u);
}

TEST(Error, quotesAreUtf8WhateverTheBytes) {
  EXPECT_EQ(inQuotes("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82"),
            "\"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82\"");
  // A byte alone, an overlong form, a surrogate, beyond U+10FFFF, cut short.
  EXPECT_EQ(inQuotes("\xff"), "\"\\xff\"");
  EXPECT_EQ(inQuotes("\xc0\xaf"), "\"\\xc0\\xaf\"");
  EXPECT_EQ(inQuotes("\xe0\x80\xaf"), "\"\\xe0\\x80\\xaf\"");
  EXPECT_EQ(inQuotes("\xed\xa0\x80"), "\"\\xed\\xa0\\x80\"");
  EXPECT_EQ(inQuotes("\xf4\x90\x80\x80"), "\"\\xf4\\x90\\x80\\x80\"");
  EXPECT_EQ(inQuotes("\xe2\x82"), "\"\\xe2\\x82\"");
}

TEST(SafetensorsReader, readsWhatIsRight) {
  // Not in the order of the data, padded, with an empty tensor and a scalar.
  const std::string bytes =
      image("{\"__metadata__\":{\"format\":\"pt\"}," + entry("z", "I16", "[2,1]", "[4,8]") + "," +
                entry("scalar", "F32", "[]", "[0,4]") + "," +
                entry("empty", "F64", "[0,3]", "[4,4]") + "}   ",
            std::string("\0\0\x80\x3f\x01\x00\xff\xff", 8));
  const auto file = parse(bytes);
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_EQ(file->entries().size(), 3u);
  EXPECT_EQ(file->entries()[0].name, "scalar");
  EXPECT_EQ(file->entries()[1].name, "empty");
  EXPECT_EQ(file->entries()[2].name, "z");
  EXPECT_EQ(file->metadata(), (SafetensorsMetadata{{"format", "pt"}}));
  EXPECT_EQ(file->find("none"), nullptr);

  const auto scalar = file->read(*file->find("scalar"));
  ASSERT_TRUE(scalar);
  EXPECT_EQ(scalar->type, ElementType(element("f32")));
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(scalar->as<float>()[0], 1.0f);
  const auto z = file->read(*file->find("z"));
  ASSERT_TRUE(z);
  EXPECT_EQ(z->type, ElementType(IntegerType{16, false}));
  EXPECT_EQ(z->as<std::int16_t>()[1], -1);
  EXPECT_EQ(file->read(*file->find("empty"))->size(), 0);
}

TEST(SafetensorsReader, headerOfNoTensors) { EXPECT_TRUE(parse(image("{}"))); }

TEST(SafetensorsReader, unpacksFourAndSixBits) {
  const std::string bytes = image("{" + entry("f4", "F4", "[2,2]", "[0,2]") + "," +
                                      entry("f6", "F6_E2M3", "[4]", "[2,5]") + "}",
                                  "\x21\xf3\x81\xd8\xf9");
  const auto file = parse(bytes);
  ASSERT_TRUE(file) << file.error().message();
  const auto f4 = file->read(*file->find("f4"));
  EXPECT_EQ(f4->type, ElementType(element("e2m1fn")));
  EXPECT_EQ(f4->shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(f4->code(0), 1u);
  EXPECT_EQ(f4->code(1), 2u);
  EXPECT_EQ(f4->code(2), 3u);
  EXPECT_EQ(f4->code(3), 15u);
  const auto f6 = file->read(*file->find("f6"));
  EXPECT_EQ(f6->type, ElementType(element("e2m3fn")));
  EXPECT_EQ(f6->code(0), 0b000001u);
  EXPECT_EQ(f6->code(1), 0b100010u);
  EXPECT_EQ(f6->code(2), 0b011101u);
  EXPECT_EQ(f6->code(3), 0b111110u);
}

// 1 + 2i as numpy.complex64 stores it: the real part first.
TEST(SafetensorsReader, complex) {
  const std::string bytes = image("{" + entry("c", "C64", "[1]", "[0,8]") + "}",
                                  std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  const auto file = parse(bytes);
  ASSERT_TRUE(file);
  const auto tensor = file->read(file->entries()[0]);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->type, ElementType(numerics::ComplexType{&element("f32")}));
  EXPECT_EQ(tensor->as<float>()[0], 1);
  EXPECT_EQ(tensor->as<float>()[1], 2);
}

TEST(SafetensorsReader, aBooleanIsZeroOrOne) {
  const std::string bytes =
      image("{" + entry("b", "BOOL", "[3]", "[0,3]") + "}", std::string("\0\1\2", 3));
  const auto file = parse(bytes);
  ASSERT_TRUE(file);
  const auto tensor = file->read(file->entries()[0]);
  ASSERT_FALSE(tensor);
  EXPECT_NE(tensor.error().message().find("found 2 in element 2"), std::string::npos);
}

TEST(SafetensorsReader, aFileThatIsNotThere) {
  const auto file = SafetensorsFile::open("/no/such/file");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message().find("/no/such/file: cannot be opened: No such file"),
            std::string::npos);
  const auto folder = SafetensorsFile::open("/");
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message().find("not a regular file"), std::string::npos);
  EXPECT_FALSE(SafetensorsFile::open("/dev/null"));
}

/// A test with a temporary folder.
class SafetensorsWriter : public testing::Test {
protected:
  SafetensorsWriter() {
    std::string name = (std::filesystem::temp_directory_path() / "octavo-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~SafetensorsWriter() override { std::filesystem::remove_all(folder); }

  static std::string contents(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::size_t filesInFolder() const {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  }

  std::filesystem::path folder;
};

// The bytes that safetensors 0.8 (Python) writes for these two tensors and this metadata.
TEST_F(SafetensorsWriter, writesTheBytesOfTheReferenceWriter) {
  const Tensor f32 = Tensor::zeros(element("f32"), {2, 3});
  Tensor yes = Tensor::zeros(IntegerType{1, false}, {});
  yes.setCode(0, 1);
  const std::vector<NamedTensor> tensors = {{"b", &f32}, {"\xc3\xa9\x1f\"", &yes}, {"a", &f32}};
  const auto path = folder / "out.safetensors";
  const auto written = writeSafetensors(path, tensors, {{"x", "y"}});
  ASSERT_TRUE(written) << written.error().message();
  const std::string header =
      "{\"__metadata__\":{\"x\":\"y\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":["
      "0,24]},\"b\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[24,48]},"
      "\"\xc3\xa9\\u001f\\\"\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[48,49]}}     ";
  EXPECT_EQ(header.size(), 0xd0u);
  EXPECT_EQ(contents(path), image(header, std::string(48, '\0') + "\1"));
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(SafetensorsWriter, everyDtypeComesBackByteForByte) {
  std::mt19937_64 random(3);
  std::vector<Tensor> tensors;
  std::vector<NamedTensor> named;
  for (const SafetensorsDtype& dtype : safetensorsDtypes())
    for (std::int64_t extent : {0, 4, 12}) {
      Tensor tensor = Tensor::zeros(dtype.type.value(), {extent, 2});
      for (std::int64_t i = 0; i < tensor.size(); ++i)
        tensor.setCode(i, tensor.type.width() == 64
                              ? random()
                              : random() & ((std::uint64_t{1} << tensor.type.width()) - 1));
      tensors.push_back(std::move(tensor));
    }
  for (std::size_t i = 0; i < tensors.size(); ++i)
    named.push_back({"t" + std::to_string(i), &tensors[i]});
  const auto first = folder / "first";
  const auto second = folder / "second";
  ASSERT_TRUE(writeSafetensors(first, named, {{"b", "1"}, {"a", "2"}}));

  const auto file = SafetensorsFile::open(first);
  ASSERT_TRUE(file) << file.error().message();
  std::vector<Tensor> read;
  std::vector<NamedTensor> again;
  for (const SafetensorsEntry& entry : file->entries()) {
    auto tensor = file->read(entry);
    ASSERT_TRUE(tensor) << tensor.error().message();
    const std::size_t i = std::stoul(entry.name.substr(1));
    EXPECT_EQ(*tensor, tensors[i]) << entry.name;
    read.push_back(std::move(*tensor));
  }
  ASSERT_EQ(read.size(), tensors.size());
  for (std::size_t i = 0; i < read.size(); ++i)
    again.push_back({file->entries()[i].name, &read[i]});
  ASSERT_TRUE(writeSafetensors(second, again, file->metadata()));
  EXPECT_EQ(contents(first), contents(second));
}

TEST_F(SafetensorsWriter, aPieceIsFetchedFromTheFileOrFromMemory) {
  Tensor tensor = Tensor::zeros(IntegerType{8, false}, {3000});
  for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
    tensor.bytes[i] = static_cast<std::byte>(i * 7);
  const NamedTensor named{"t", &tensor};
  ASSERT_TRUE(writeSafetensors(folder / "a", std::span(&named, 1)));
  const std::string image = contents(folder / "a");
  const auto onDisk = SafetensorsFile::open(folder / "a");
  const auto inMemory =
      SafetensorsFile::open(InputFile::ofMemory(std::as_bytes(std::span(image)), "a"));
  for (const auto* file : {&onDisk, &inMemory}) {
    ASSERT_TRUE(*file);
    std::vector<std::byte> fetched(1500);
    ASSERT_TRUE((*file)->fetch((*file)->entries()[0], 1000, fetched));
    EXPECT_TRUE(std::equal(fetched.begin(), fetched.end(), tensor.bytes.begin() + 1000));
  }
}

TEST_F(SafetensorsWriter, aFileThatHasBecomeShorterIsSaidNotToBeWhole) {
  const Tensor tensor = Tensor::zeros(IntegerType{8, false}, {3000});
  const NamedTensor named{"t", &tensor};
  ASSERT_TRUE(writeSafetensors(folder / "a", std::span(&named, 1)));
  const auto file = SafetensorsFile::open(folder / "a");
  ASSERT_TRUE(file);
  std::filesystem::resize_file(folder / "a", 2000);
  const auto bytes = file->bytes(file->entries()[0]);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().message(),
            (folder / "a").string() + ": tensor \"t\": became shorter while it was being read (at "
                                      "byte 2000); find out what writes to it, and run this again");
}

TEST_F(SafetensorsWriter, aPipeIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto file = SafetensorsFile::open(folder / "pipe");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message().find("not a regular file"), std::string::npos);
}

TEST_F(SafetensorsWriter, mxInt8IsI8) {
  const Tensor tensor = Tensor::zeros(element("int8"), {2});
  const std::vector<NamedTensor> named = {{"x", &tensor}};
  ASSERT_TRUE(writeSafetensors(folder / "x", named));
  EXPECT_EQ(SafetensorsFile::open(folder / "x")->entries()[0].dtype->name, "I8");
}

TEST_F(SafetensorsWriter, refusesWhatTheFormatCannotHoldAndLeavesNothing) {
  const Tensor e4m3 = Tensor::zeros(element("e4m3"), {2});
  const Tensor odd = Tensor::zeros(element("e2m1fn"), {3});
  const Tensor good = Tensor::zeros(element("f32"), {1});
  const auto message = [&](std::vector<NamedTensor> tensors,
                           const std::filesystem::path& path) -> std::string {
    const auto written = writeSafetensors(path, tensors);
    return written ? "written" : written.error().message();
  };
  EXPECT_NE(message({{"x", &e4m3}}, folder / "x").find("\"x\": safetensors has no dtype"),
            std::string::npos);
  EXPECT_NE(message({{"x", &odd}}, folder / "x").find("multiple of 2 elements, found 3"),
            std::string::npos);
  EXPECT_NE(message({{"x", &good}, {"x", &good}}, folder / "x").find("two tensors"),
            std::string::npos);
  EXPECT_NE(message({{"__metadata__", &good}}, folder / "x").find("__metadata__"),
            std::string::npos);
  EXPECT_NE(message({{"\xff", &good}}, folder / "x").find("not UTF-8"), std::string::npos);
  EXPECT_NE(message({{"x", &good}}, folder / "none" / "x").find("create its folder first"),
            std::string::npos);
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(SafetensorsWriter, replacesAFileOnlyWhenTheNewOneIsWhole) {
  const auto path = folder / "x";
  const Tensor good = Tensor::zeros(element("f32"), {1});
  const std::vector<NamedTensor> first = {{"x", &good}};
  ASSERT_TRUE(writeSafetensors(path, first));
  const std::string before = contents(path);
  const std::vector<NamedTensor> bad = {{"\xff", &good}};
  ASSERT_FALSE(writeSafetensors(path, bad));
  EXPECT_EQ(contents(path), before);
  EXPECT_EQ(filesInFolder(), 1u);
}

// The enumeration of safetensors 0.8. Every row of the element table with a dtype name is in it.
TEST(SafetensorsDtypes, areAllThereInOrder) {
  std::string names;
  for (const SafetensorsDtype& dtype : safetensorsDtypes())
    names += std::string(dtype.name) + " ";
  EXPECT_EQ(names, "BOOL F4 F6_E2M3 F6_E3M2 U8 I8 F8_E5M2 F8_E4M3 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ "
                   "I16 U16 F16 BF16 I32 U32 F32 C64 F64 I64 U64 ");
}

} // namespace
} // namespace octavo::checkpoint
