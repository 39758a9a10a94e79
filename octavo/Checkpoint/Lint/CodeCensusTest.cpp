#include "octavo/Checkpoint/Lint/CodeCensus.h"

#include "octavo/Checkpoint/Files/PackedCodes.h"
#include "octavo/Checkpoint/TensorChunks.h"
#include "octavo/Numerics/Conversion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {
namespace {

using format::ElementFormat;

bool isElement(const ElementFormat& format) { return format.isNarrow() && format.hasZero(); }

/// The census computed from the value of each code.
CodeCensus fromValues(const ElementFormat& format, const std::vector<std::byte>& codes) {
  CodeCensus census;
  double largest = -1;
  for (std::byte byte : codes) {
    const std::uint64_t code = static_cast<std::uint64_t>(byte) & format.codeMask();
    const double value = numerics::decode(format, code);
    ++census.count;
    census.nan += std::isnan(value);
    census.inf += std::isinf(value);
    census.zero += value == 0;
    census.negativeZero += value == 0 && std::signbit(value);
    census.atMax += std::isfinite(value) && std::fabs(value) >= numerics::maxValue(format);
    census.belowMax +=
        std::isfinite(value) && std::fabs(value) == numerics::decode(format, format.maxCode() - 1);
    if (std::isfinite(value) && std::fabs(value) > largest)
      largest = std::fabs(value);
  }
  for (std::uint32_t code = 0; code < format.codeCount(); ++code)
    if (std::fabs(numerics::decode(format, code)) == largest) {
      census.largest = static_cast<std::uint8_t>(code);
      break;
    }
  return census;
}

void expectEqual(const CodeCensus& a, const CodeCensus& b, const ElementFormat& format) {
  EXPECT_EQ(a.count, b.count) << format.name;
  EXPECT_EQ(a.nan, b.nan) << format.name;
  EXPECT_EQ(a.inf, b.inf) << format.name;
  EXPECT_EQ(a.negativeZero, b.negativeZero) << format.name;
  EXPECT_EQ(a.zero, b.zero) << format.name;
  EXPECT_EQ(a.atMax, b.atMax) << format.name;
  EXPECT_EQ(a.belowMax, b.belowMax) << format.name;
  EXPECT_EQ(magnitude(format, a.largest), magnitude(format, b.largest)) << format.name;
}

TEST(CodeCensus, EveryCodeOfEveryFormat) {
  for (const ElementFormat& format : format::kElementFormats)
    for (std::uint32_t code = 0; isElement(format) && code < format.codeCount(); ++code) {
      const std::vector<std::byte> one(1, static_cast<std::byte>(code));
      expectEqual(takeCodeCensus(format, one), fromValues(format, one), format);
    }
}

TEST(CodeCensus, EveryLength) {
  std::mt19937 random(1);
  for (const ElementFormat& format : format::kElementFormats)
    for (std::size_t n : {0, 1, 31, 32, 33, 255 * 32 - 1, 255 * 32, 255 * 32 + 1, 100'000}) {
      if (!isElement(format))
        continue;
      std::vector<std::byte> codes(n);
      for (std::byte& code : codes)
        code = static_cast<std::byte>(random());
      const CodeCensus expected = fromValues(format, codes);
      expectEqual(takeCodeCensus(format, codes), expected, format);
      expectEqual(takePackedCodeCensus(format, packCodes(codes, format.width()), n), expected,
                  format);
    }
}

/// Codes of a file are read in chunks, which must not cut a code.
TEST(CodeCensus, PackedCodesOfManyChunks) {
  std::mt19937 random(2);
  for (const ElementFormat& format : format::kElementFormats) {
    const int width = format.width();
    if (width >= 8)
      continue;
    std::vector<std::byte> codes(kChunkBytes * 8 / width * 2 + 800);
    for (std::byte& code : codes)
      code = static_cast<std::byte>(random());
    const std::vector<std::byte> packed = packCodes(codes, width);
    const std::string size = std::to_string(packed.size());
    std::string image =
        R"({"w":{"dtype":"U8","shape":[)" + size + R"(],"data_offsets":[0,)" + size + "]}}";
    image.insert(0, 8, '\0');
    for (int i = 0; i < 8; ++i)
      image[i] = static_cast<char>((image.size() - 8) >> (8 * i) & 0xff);
    image.append(reinterpret_cast<const char*>(packed.data()), packed.size());
    const auto file = SafetensorsFile::open(
        InputFile::ofMemory(std::as_bytes(std::span(image)), "model.safetensors"));
    ASSERT_TRUE(file) << file.error().message();
    const Part part{.tensor = {&*file, &file->entries()[0]}, .format = &format, .packed = true};
    const auto census = takeCodeCensus(part, 0, packed.size());
    ASSERT_TRUE(census);
    expectEqual(*census, fromValues(format, codes), format);
  }
}

TEST(CodeCensus, CountersOfBytesDoNotWrap) {
  const std::vector<std::byte> nans(1 << 20, std::byte{0x7F});
  EXPECT_EQ(takeCodeCensus(format::element("e4m3fn"), nans).nan, nans.size());
}

} // namespace
} // namespace octavo::checkpoint
