#include "octavo/Checkpoint/LayerReader.h"

#include "octavo/Checkpoint/Files/PackedCodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <random>

namespace octavo::checkpoint {
namespace {

using format::element;
using format::ElementFormat;
using format::ScaledFormat;

/// Tensors in memory that are read like those of a file.
class Store {
public:
  StoredTensor add(const std::string& name, std::string_view dtype, std::vector<std::int64_t> shape,
                   std::vector<std::byte> bytes) {
    std::string header = "{\"" + name + "\":{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":[";
    for (std::size_t i = 0; i < shape.size(); ++i)
      header += (i ? "," : "") + std::to_string(shape[i]);
    header += "],\"data_offsets\":[0," + std::to_string(bytes.size()) + "]}}";
    std::vector<std::byte>& image = images.emplace_back();
    for (int i = 0; i < 8; ++i)
      image.push_back(static_cast<std::byte>(header.size() >> (8 * i) & 0xff));
    for (char c : header)
      image.push_back(static_cast<std::byte>(c));
    image.insert(image.end(), bytes.begin(), bytes.end());
    auto file = SafetensorsFile::open(InputFile::ofMemory(image, "model.safetensors"));
    EXPECT_TRUE(file) << file.error().message();
    files.push_back(std::move(*file));
    return {&files.back(), &files.back().entries()[0]};
  }

private:
  std::deque<std::vector<std::byte>> images;
  std::deque<SafetensorsFile> files;
};

/// A layer of random codes and valid scales, and its values computed by the scalar specification.
struct Sample {
  Layer layer;
  std::vector<std::uint8_t> codes;
  std::vector<std::uint32_t> scales;
  std::vector<float> values;
};

Sample sample(Store& store, const ScaledFormat& format, std::vector<std::int64_t> shape,
              bool packed, const ElementFormat* storedScale = nullptr) {
  std::mt19937 random(7);
  Sample sample;
  Layer& layer = sample.layer;
  layer.name = "m";
  layer.parameter = "weight";
  layer.shape = shape;
  layer.format = &format;
  layer.type = {format.element, format.scale,
                format::blockShape(format, shape, static_cast<int>(shape.size()) - 1),
                format.hasOuterScale};
  const ElementFormat& stored = storedScale ? *storedScale : *format.scale;
  const auto count = static_cast<std::size_t>(numerics::elementCount(shape));
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    sample.codes.push_back(random() & (format.element->codeCount() - 1));
    bytes.push_back(static_cast<std::byte>(sample.codes.back()));
  }
  const auto grid = format::scaleShape(shape, layer.type.block);
  std::vector<std::byte> scaleBytes;
  for (std::int64_t i = 0; i < numerics::elementCount(grid); ++i) {
    // Some scales are NaN.
    const double value = i % 11 == 10 ? std::nan("") : std::ldexp(1.0 + random() % 8 / 8.0, -3);
    const std::uint64_t code = numerics::convert(stored, value);
    scaleBytes.resize(scaleBytes.size() + stored.bytes());
    std::memcpy(&*scaleBytes.end() - stored.bytes(), &code, stored.bytes());
    sample.scales.push_back(static_cast<std::uint32_t>(
        numerics::convert(*format.scale, numerics::decode(stored, code))));
  }
  const int width = format.element->width();
  if (packed)
    bytes = packCodes(bytes, width);
  const auto elementBytes = static_cast<std::int64_t>(bytes.size());
  layer.elements = {store.add("m.weight", "U8", {elementBytes}, std::move(bytes)), format.element,
                    packed};
  const auto scaleSize = static_cast<std::int64_t>(scaleBytes.size());
  layer.scales =
      Part{store.add("m.weight_scale", "U8", {scaleSize}, std::move(scaleBytes)), &stored};
  float outer = 1;
  if (format.hasOuterScale) {
    const float divisor = 3.0f;
    std::vector<std::byte> four(4);
    std::memcpy(four.data(), &divisor, 4);
    layer.outer = Part{.tensor = store.add("m.weight_global_scale", "F32", {1}, four),
                       .format = &element("f32"),
                       .meaning = Meaning::Divides};
    outer = 1.0f / 3.0f;
  }
  sample.values = numerics::dequantize({shape, layer.type, sample.codes, sample.scales, outer});
  return sample;
}

bool sameFloats(const float* a, const float* b, std::size_t n) {
  return std::equal(a, a + n, b, [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) ||
           (std::isnan(x) && std::isnan(y));
  });
}

/// Reads the layer whole, and in pieces of at most `most` rows.
void expectReads(const Sample& sample, std::int64_t most) {
  auto reader = LayerReader::open(sample.layer);
  ASSERT_TRUE(reader) << reader.error().message();
  const std::int64_t columns = reader->columns();
  const auto scaleBytes = static_cast<std::size_t>(sample.layer.type.scale->bytes());
  std::size_t scalesSeen = 0;
  Fetched fetched;
  for (std::int64_t begin = 0, end; begin < reader->rows(); begin = end) {
    end = reader->pieceEnd(begin, most);
    ASSERT_GT(end, begin);
    ASSERT_LE(end, reader->rows());
    const auto n = static_cast<std::size_t>((end - begin) * columns);
    const std::size_t at = static_cast<std::size_t>(begin * columns);
    std::vector<std::uint8_t> codes(n);
    std::vector<float> values(n);
    for (const int threads : {1, 2}) {
      std::ranges::fill(codes, 0xFF);
      std::ranges::fill(values, -1.0f);
      ASSERT_TRUE(reader->codes(begin, end, codes.data(), fetched, {.threads = threads}));
      ASSERT_TRUE(reader->values(begin, end, values.data(), fetched, {.threads = threads}));
      EXPECT_TRUE(std::equal(codes.begin(), codes.end(), sample.codes.begin() + at)) << begin;
      EXPECT_TRUE(sameFloats(values.data(), sample.values.data() + at, n)) << begin << ".." << end;
    }
    std::vector<std::byte> scales(reader->scaleCount(begin, end) * scaleBytes);
    ASSERT_TRUE(reader->scales(begin, end, scales.data(), fetched));
    for (std::size_t i = 0; i < scales.size() / scaleBytes; ++i) {
      std::uint32_t code = 0;
      std::memcpy(&code, scales.data() + i * scaleBytes, scaleBytes);
      EXPECT_EQ(numerics::decode(*sample.layer.type.scale, code) ==
                    numerics::decode(*sample.layer.type.scale,
                                     sample.scales[scalesSeen % sample.scales.size()]),
                !sample.layer.type.scale->isNan(code));
      ++scalesSeen;
    }
  }
}

TEST(LayerReader, readsEveryScaledFormatInPieces) {
  for (const ScaledFormat& format : format::kScaledFormats) {
    SCOPED_TRACE(format.name);
    Store store;
    for (bool packed : {false, true})
      for (const std::vector<std::int64_t>& shape :
           {std::vector<std::int64_t>{300, 256}, {5, 96}, {1, 32}}) {
        const Sample s = sample(store, format, shape, packed);
        for (std::int64_t most : {1, 130, 1000})
          expectReads(s, most);
      }
  }
}

TEST(LayerReader, readsRowsWithinABlock) {
  Store store;
  const Sample s = sample(store, *format::findScaledFormat("fp8_block"), {300, 256}, false);
  const auto reader = LayerReader::open(s.layer);
  ASSERT_TRUE(reader);
  Fetched fetched;
  for (std::int64_t rows : {1, 32})
    for (std::int64_t begin = 0; begin < 300; begin += rows) {
      const std::int64_t end = std::min<std::int64_t>(begin + rows, 300);
      std::vector<float> values(static_cast<std::size_t>((end - begin) * 256));
      ASSERT_TRUE(reader->values(begin, end, values.data(), fetched));
      EXPECT_TRUE(sameFloats(values.data(), s.values.data() + begin * 256, values.size())) << begin;
    }
}

TEST(LayerReader, readsStackedExpertsWhoseRowsEndWithinABlock) {
  for (const ScaledFormat& format : format::kScaledFormats) {
    SCOPED_TRACE(format.name);
    Store store;
    const Sample s = sample(store, format, {3, 150, 64}, true);
    for (std::int64_t most : {1, 128, 1000})
      expectReads(s, most);
  }
}

/// The same layer stored with its last two axes exchanged, element by element.
Layer swapped(Store& store, const Sample& s) {
  Layer layer = s.layer;
  const std::int64_t experts = layer.shape[0], rows = layer.shape[1];
  const auto turn = [&](const Part& part, std::int64_t height, std::int64_t columns,
                        std::int64_t size) {
    const std::vector<std::byte> from = *part.tensor.bytes();
    std::vector<std::byte> to;
    for (std::int64_t e = 0; e < experts; ++e)
      for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t r = 0; r < height; ++r)
          for (std::int64_t byte = 0; byte < size; ++byte)
            to.push_back(from[((e * height + r) * columns + c) * size + byte]);
    const auto count = static_cast<std::int64_t>(to.size());
    return store.add("m.swapped", "U8", {count}, std::move(to));
  };
  const std::vector<std::int64_t> grid = format::scaleShape(layer.shape, layer.type.block);
  const auto rowBytes = static_cast<std::int64_t>(layer.elements.tensor.size()) / (experts * rows);
  layer.elements.tensor = turn(layer.elements, rows, rowBytes, 1);
  if (grid[0] == experts)
    layer.scales->tensor = turn(*layer.scales, grid[1], grid[2], layer.scales->format->bytes());
  layer.storedAxes = StoredAxes::Swapped;
  return layer;
}

TEST(LayerReader, readsExpertsWhoseMatricesLieAcross) {
  for (const ScaledFormat& format : format::kScaledFormats)
    for (const bool packed : {false, true}) {
      SCOPED_TRACE(format.name);
      Store store;
      Sample s = sample(store, format, {3, 150, 64}, packed);
      s.layer = swapped(store, s);
      for (std::int64_t most : {1, 128, 1000})
        expectReads(s, most);
    }
}

TEST(LayerReader, readsAnOuterScaleOfEachExpert) {
  const ScaledFormat& format = *format::findScaledFormat("nvfp4");
  for (const bool isSwapped : {false, true}) {
    Store store;
    Sample s = sample(store, format, {3, 5, 32}, true);
    const float divisors[] = {3.0f, 0.7f, 1e-3f};
    std::vector<std::byte> bytes(sizeof divisors);
    std::memcpy(bytes.data(), divisors, sizeof divisors);
    s.layer.outer->tensor = store.add("m.weight_global_scale", "F32", {3}, bytes);
    const auto matrix = s.codes.size() / 3, scales = s.scales.size() / 3;
    s.values.clear();
    for (std::size_t e = 0; e < 3; ++e) {
      const numerics::ScaledType type{format.element, format.scale, {1, 16}, true};
      const std::vector<std::uint8_t> codes(s.codes.begin() + e * matrix,
                                            s.codes.begin() + (e + 1) * matrix);
      const std::vector<std::uint32_t> grid(s.scales.begin() + e * scales,
                                            s.scales.begin() + (e + 1) * scales);
      for (float value : numerics::dequantize({{5, 32}, type, codes, grid, 1 / divisors[e]}))
        s.values.push_back(value);
    }
    if (isSwapped)
      s.layer = swapped(store, s);
    for (std::int64_t most : {1, 7, 1000})
      expectReads(s, most);
    EXPECT_TRUE(LayerReader::open(s.layer)->hasOuterPerExpert());
    EXPECT_EQ(LayerReader::open(s.layer)->outer(9), 1 / 0.7f);
  }
}

TEST(LayerReader, widensScalesStoredAsBf16) {
  Store store;
  const ElementFormat& bf16 = element("bf16");
  for (std::string_view name : {"fp8_row", "fp8_block", "fp8_tensor"})
    expectReads(sample(store, *format::findScaledFormat(name), {140, 256}, false, &bf16), 7);
}

TEST(LayerReader, refusesPartsThatDoNotFit) {
  Store store;
  const Sample good = sample(store, *format::findScaledFormat("nvfp4"), {4, 32}, true);
  const auto expectRefused = [](const Layer& layer, const std::string& word) {
    const auto reader = LayerReader::open(layer);
    ASSERT_FALSE(reader) << word;
    EXPECT_NE(reader.error().message().find(word), std::string::npos) << reader.error().message();
  };
  Layer layer = good.layer;
  layer.scales.reset();
  expectRefused(layer, "scales of this layer are missing");
  layer = good.layer;
  layer.outer.reset();
  expectRefused(layer, "outer scale of this layer is missing");
  layer = good.layer;
  layer.outer = layer.scales;
  expectRefused(layer, "neither one scale nor one per expert");
  layer = good.layer;
  layer.elements.packed = false;
  expectRefused(layer, "its size is not that of the layer's elements");
  layer = good.layer;
  layer.scales = layer.elements;
  expectRefused(layer, "its size is not that of the layer's scales");
}

TEST(LayerReader, aDivisorIsInverted) {
  Store store;
  const Sample s = sample(store, *format::findScaledFormat("nvfp4"), {4, 32}, true);
  EXPECT_EQ(LayerReader::open(s.layer)->outer(), 1.0f / 3.0f);
  Layer layer = s.layer;
  layer.outer->meaning = Meaning::Multiplies;
  EXPECT_EQ(LayerReader::open(layer)->outer(), 3.0f);
}

} // namespace
} // namespace octavo::checkpoint
