// Quantization from memory to memory, for benchmarks/checkpoint.py: what `octavo checkpoint
// quantize` computes, without its files.
//
//   quantize-in-memory FORMAT VALUES THREADS
//
// Prints one JSON object: the best wall and processor seconds of kernels::quantize of f32 values
// (codes one a byte), of the same work from bf16 to packed codes in pieces that stay in the caches,
// of that from fp8_block, and of that with a measure of what is lost, as `convert --requantize`
// reports it. All by at most THREADS threads, of matrices of 14336 x 4096 with VALUES values in
// all.
#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Amax.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Loss.h"
#include "octavo/Kernels/Pack.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Kernels/Widen.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <ctime>
#include <random>
#include <string>
#include <vector>

using namespace octavo;

static constexpr std::int64_t kRows = 14336, kColumns = 4096;
static constexpr std::int64_t kTileValues = std::int64_t{1} << 15;
static constexpr int kRounds = 5;

namespace {

struct Seconds {
  double wall = 1e30, processor = 1e30;
};

double processorSeconds() {
  timespec time;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <typename Work> Seconds best(std::int64_t times, Work work) {
  Seconds found;
  work(); // pages come, threads start
  for (int round = 0; round < kRounds; ++round) {
    const double before = processorSeconds();
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    found.wall = std::min(found.wall, taken.count() * static_cast<double>(times));
    found.processor =
        std::min(found.processor, (processorSeconds() - before) * static_cast<double>(times));
  }
  return found;
}

numerics::ScaledType typeOf(const format::ScaledFormat& format, std::int64_t rows) {
  const std::int64_t shape[] = {kRows, kColumns};
  numerics::ScaledType type{format.element, format.scale, format::blockShape(format, shape, 1),
                            format.hasOuterScale};
  type.block[0] = std::min(type.block[0], rows);
  return type;
}

} // namespace

int main(int argc, char** argv) {
  const format::ScaledFormat* format = argc == 4 ? format::findScaledFormat(argv[1]) : nullptr;
  if (!format) {
    fmt::print(stderr, "usage: quantize-in-memory FORMAT VALUES THREADS\n");
    return 2;
  }
  const kernels::Execution execution{.threads = std::stoi(argv[3])};
  const numerics::QuantizeOptions options{.rule = format->rule};
  const auto n = static_cast<std::size_t>(kRows * kColumns);
  std::vector<float> wide(n);
  std::mt19937 random(0);
  std::normal_distribution<float> normal(0, 0.02f);
  std::generate_n(wide.begin(), 1 << 16, [&] { return normal(random); });
  for (std::size_t i = 1 << 16; i < n; i += 1 << 16)
    std::copy_n(wide.begin(), 1 << 16, wide.begin() + static_cast<std::ptrdiff_t>(i));
  std::vector<std::byte> narrow(n * 2);
  kernels::narrow(kernels::WideType::Bf16, wide.data(), narrow.data(), n);
  kernels::widen(kernels::WideType::Bf16, narrow.data(), wide.data(), n);
  std::vector<std::uint8_t> codes(n), packed(n);
  std::vector<float> scales(n / 16);

  const std::int64_t times = std::max<std::int64_t>(1, std::stoll(argv[2]) / (kRows * kColumns));
  const std::int64_t shape[] = {kRows, kColumns};
  const Seconds ofF32 = best(times, [&] {
    kernels::quantize(wide.data(), shape, typeOf(*format, kRows), options, codes.data(),
                      scales.data(), {}, execution);
  });

  const std::int64_t blockRows = typeOf(*format, kRows).block[0];
  const bool isShared = format->hasOuterScale || blockRows == kRows;
  const std::int64_t grain = blockRows == kRows ? 1 : blockRows;
  const std::int64_t tile = std::max<std::int64_t>(1, kTileValues / (grain * kColumns)) * grain;
  const int width = format->element->width();
  /// Quantizes what `read` gives of the rows from `begin` on, f32.
  enum class Measure { No, Yes };
  const auto byTiles = [&](float amax, Measure measure, auto read) {
    kernels::forRanges(kRows / tile, 1, execution, [&](std::size_t begin, std::size_t end) {
      std::vector<float> values(static_cast<std::size_t>(tile * kColumns));
      std::vector<std::uint8_t> loose(values.size());
      std::vector<float> scalesOfTile(values.size() / 16 + 1);
      std::vector<float> restored(measure == Measure::Yes ? values.size() : 0);
      const std::int64_t tileShape[] = {tile, kColumns};
      const numerics::ScaledType type = typeOf(*format, tile);
      kernels::Loss loss;
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t at = i * values.size();
        read(static_cast<std::int64_t>(i) * tile, values.data());
        std::uint8_t* to = width < 8 ? loose.data() : packed.data() + at;
        const kernels::QuantizeReport report =
            isShared ? kernels::quantizePiece(values.data(), tileShape, type, options, amax, to,
                                              scalesOfTile.data(), {.threads = 1})
                     : kernels::quantize(values.data(), tileShape, type, options, to,
                                         scalesOfTile.data(), {}, {.threads = 1});
        if (measure == Measure::Yes) {
          kernels::dequantize(to, scalesOfTile.data(), report.outer, tileShape, type,
                              restored.data(), {.threads = 1});
          loss.add(values.data(), restored.data(), values.size());
        }
        if (width < 8)
          kernels::pack(to, values.size(), width, packed.data() + kernels::packedBytes(at, width),
                        {.threads = 1});
      }
    });
  };
  const auto inTile = static_cast<std::size_t>(tile * kColumns);
  const Seconds ofBf16 = best(times, [&] {
    const float amax =
        isShared ? kernels::amax(kernels::WideType::Bf16, narrow.data(), n, execution) : 0;
    byTiles(amax, Measure::No, [&](std::int64_t row, float* values) {
      kernels::widen(kernels::WideType::Bf16, narrow.data() + 2 * row * kColumns, values, inTile);
    });
  });

  const format::ScaledFormat& source = *format::findScaledFormat("fp8_block");
  const std::int64_t shapeOfGrid[] = {kRows, kColumns};
  const auto gridColumns = format::scaleShape(shapeOfGrid, typeOf(source, kRows).block).back();
  std::vector<float> sourceScales(
      static_cast<std::size_t>(kRows / typeOf(source, kRows).block[0] * gridColumns), 0x1p-12f);
  for (std::uint8_t& code : codes) {
    code = static_cast<std::uint8_t>(random());
    if ((code & 0x7F) == 0x7F) // NaN
      code = 0x30;
  }
  const auto dequantize = [&](std::int64_t row, float* values) {
    const std::int64_t tileShape[] = {tile, kColumns};
    const auto blockRow = row / typeOf(source, kRows).block[0];
    kernels::dequantize(codes.data() + row * kColumns, sourceScales.data() + blockRow * gridColumns,
                        1, tileShape, typeOf(source, tile), values, {.threads = 1});
  };
  const auto requantize = [&](Measure measure) {
    kernels::SharedMaximum amax;
    if (isShared)
      kernels::forRanges(kRows / tile, 1, execution, [&](std::size_t begin, std::size_t end) {
        std::vector<float> values(inTile);
        for (std::size_t i = begin; i < end; ++i) {
          dequantize(static_cast<std::int64_t>(i) * tile, values.data());
          amax.raise(std::bit_cast<std::uint32_t>(
              kernels::amax(kernels::WideType::F32, values.data(), inTile, {.threads = 1})));
        }
      });
    byTiles(std::bit_cast<float>(amax.get()), measure, dequantize);
  };
  const Seconds ofBlocks = best(times, [&] { requantize(Measure::No); });
  const Seconds measured = best(times, [&] { requantize(Measure::Yes); });
  fmt::print("{}\n", nlohmann::ordered_json{{"format", format->name},
                                            {"values", times * kRows * kColumns},
                                            {"threads", execution.threads},
                                            {"f32_s", ofF32.wall},
                                            {"f32_processor_s", ofF32.processor},
                                            {"bf16_s", ofBf16.wall},
                                            {"bf16_processor_s", ofBf16.processor},
                                            {"fp8_block_s", ofBlocks.wall},
                                            {"fp8_block_processor_s", ofBlocks.processor},
                                            {"fp8_block_measured_s", measured.wall},
                                            {"fp8_block_measured_processor_s", measured.processor}}
                         .dump());
  return 0;
}
