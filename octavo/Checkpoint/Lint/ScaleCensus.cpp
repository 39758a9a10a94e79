#include "octavo/Checkpoint/Lint/ScaleCensus.h"

#include "octavo/Checkpoint/ScaleTiles.h"
#include "octavo/Checkpoint/StoredCode.h"
#include "octavo/Checkpoint/TensorChunks.h"
#include "octavo/Numerics/Conversion.h"

#include <algorithm>
#include <cmath>

namespace octavo::checkpoint {

namespace {

using format::ElementFormat;

/// The code of number i.
std::uint64_t codeOf(const ElementFormat& format, std::span<const std::byte> bytes, std::size_t i) {
  return codeAt(format, bytes.data() + i * static_cast<std::size_t>(format.bytes()));
}

std::size_t scaleCount(const Part& part) {
  return part.tensor.size() / static_cast<std::size_t>(part.format->bytes());
}

bool isSubnormal(const ElementFormat& format, double value) {
  const double magnitude = std::fabs(value);
  return magnitude != 0 &&
         magnitude < (format.specials == format::Specials::Scale ? std::ldexp(1.0, -126)
                                                                 : numerics::minNormal(format));
}

bool has(const ElementFormat& format, double value, ScaleFault fault) {
  switch (fault) {
  case ScaleFault::Zero:
    return value == 0;
  case ScaleFault::Nan:
    return std::isnan(value);
  case ScaleFault::Inf:
    return std::isinf(value);
  case ScaleFault::Negative:
    return value < 0;
  case ScaleFault::Subnormal:
    return isSubnormal(format, value);
  }
  return false;
}

void add(const ElementFormat& format, std::uint64_t code, std::uint64_t times, ScaleCensus& census,
         ScaleHistogram* histogram) {
  const double value = numerics::decode(format, code);
  census.count += times;
  for (int fault = 0; fault < kScaleFaults; ++fault)
    if (has(format, value, static_cast<ScaleFault>(fault)))
      census.faults[fault] += times;
  if (!std::isfinite(value) || value == 0)
    return;
  if (value > 0) {
    census.smallest = std::min(census.smallest, static_cast<float>(value));
    census.largest = std::max(census.largest, static_cast<float>(value));
  }
  if (histogram)
    (*histogram)[std::clamp(std::ilogb(value), ScaleHistogram::kLowest,
                            ScaleHistogram::kHighest)] += times;
}

} // namespace

ScaleHistogram& ScaleHistogram::operator+=(const ScaleHistogram& other) {
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
    counts[bin] += other.counts[bin];
  return *this;
}

ScaleCensus& ScaleCensus::operator+=(const ScaleCensus& other) {
  count += other.count;
  for (int fault = 0; fault < kScaleFaults; ++fault)
    faults[fault] += other.faults[fault];
  smallest = std::min(smallest, other.smallest);
  largest = std::max(largest, other.largest);
  return *this;
}

static void count(const ElementFormat& format, std::span<const std::byte> bytes,
                  ScaleCensus& census, ScaleHistogram* histogram) {
  if (format.isNarrow()) {
    // Four tables: with one, runs of equal codes would wait for the counter just written.
    std::array<std::array<std::uint32_t, 256>, 4> counts{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
      ++counts[i % 4][static_cast<std::uint8_t>(bytes[i])];
    for (std::uint64_t code = 0; code < 256; ++code) {
      std::uint64_t times = 0;
      for (const auto& table : counts)
        times += table[code];
      if (times > 0)
        add(format, code, times, census, histogram);
    }
    return;
  }
  const auto width = static_cast<std::size_t>(format.bytes());
  for (std::size_t i = 0; i < bytes.size() / width; ++i)
    add(format, codeOf(format, bytes, i), 1, census, histogram);
}

/// Whether the scale at index `place` of the file is padding.
static bool isPaddingOf(const Part& part, std::uint64_t place) {
  return part.order == ScaleOrder::Tiles &&
         isPadding(static_cast<std::int64_t>(place), part.grid[0], part.grid[1]);
}

/// The bytes of tiled scales that are not padding.
static std::span<const std::byte> withoutPadding(const Part& part, std::uint64_t offset,
                                                 std::span<const std::byte> bytes,
                                                 std::vector<std::byte>& kept) {
  const auto width = static_cast<std::size_t>(part.format->bytes());
  kept.clear();
  for (std::size_t at = 0; at + width <= bytes.size(); at += width)
    if (!isPaddingOf(part, (offset + at) / width))
      kept.insert(kept.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  return kept;
}

tl::expected<ScaleCensus, Error> takeScaleCensus(const Part& part, ScaleHistogram* histogram) {
  ScaleCensus census;
  std::vector<std::byte> kept;
  const auto add = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    if (part.order == ScaleOrder::Tiles)
      bytes = withoutPadding(part, offset, bytes, kept);
    count(*part.format, bytes, census, histogram);
    return true;
  };
  return forChunks(part.tensor, add).map([&] { return census; });
}

tl::expected<std::vector<float>, Error> readScales(const Part& part, std::size_t most) {
  const auto width = static_cast<std::size_t>(part.format->bytes());
  std::vector<float> scales(std::min(scaleCount(part), most));
  std::vector<std::byte> bytes(scales.size() * width);
  return part.tensor.fetch(0, bytes).map([&] {
    for (std::size_t i = 0; i < scales.size(); ++i)
      scales[i] =
          static_cast<float>(numerics::decode(*part.format, codeOf(*part.format, bytes, i)));
    return std::move(scales);
  });
}

tl::expected<std::optional<std::uint64_t>, Error> firstScale(const Part& part, ScaleFault fault) {
  const auto width = static_cast<std::size_t>(part.format->bytes());
  std::optional<std::uint64_t> found;
  const auto search = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size() / width && !found; ++i)
      if (!isPaddingOf(part, offset / width + i) &&
          has(*part.format, numerics::decode(*part.format, codeOf(*part.format, bytes, i)), fault))
        found = offset / width + i;
    return !found;
  };
  return forChunks(part.tensor, search).map([&] { return found; });
}

} // namespace octavo::checkpoint
