#include "octavo/Checkpoint/Lint/CodeCensus.h"

#include "octavo/Checkpoint/Files/PackedCodes.h"
#include "octavo/Checkpoint/TensorChunks.h"
#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/Pack.h"
#include "octavo/Numerics/Conversion.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace octavo::checkpoint {

namespace {

using format::ElementFormat;
using format::Specials;
using std::uint8_t;

/// The tests of one format as bytes to compare with. A test that no code may pass compares with
/// 0xFF: magnitudes are at most 0x80.
struct Tests {
  uint8_t codeMask, magnitudeMask, sign;
  uint8_t nanFrom = 0xFF; ///< magnitudes from this value on are NaN
  uint8_t inf = 0xFF;
  uint8_t max;
  bool twosComplement;
};

Tests testsOf(const ElementFormat& format) {
  const auto sign = static_cast<uint8_t>(format.signMask());
  Tests tests = {.codeMask = static_cast<uint8_t>(format.codeMask()),
                 .magnitudeMask = static_cast<uint8_t>(sign - 1),
                 .sign = sign,
                 .max = static_cast<uint8_t>(format.maxCode()),
                 .twosComplement = format.isInteger()};
  if (format.hasInf())
    tests.inf = static_cast<uint8_t>(*format.infCode());
  if (format.specials == Specials::Ieee)
    tests.nanFrom = tests.inf + 1;
  else if (format.specials == Specials::NanOnly)
    tests.nanFrom = static_cast<uint8_t>(*format.nanCode());
  return tests;
}

/// Number of independent byte counters: as many as fit vector registers.
constexpr std::size_t kLanes = 32;
using Lanes = std::array<uint8_t, kLanes>;
/// Rounds before a byte counter would wrap.
constexpr std::size_t kRounds = 255;

std::uint64_t sum(const Lanes& lanes) {
  std::uint64_t total = 0;
  for (uint8_t lane : lanes)
    total += lane;
  return total;
}

/// Counts `rounds` <= kRounds rows of kLanes codes.
template <bool TwosComplement>
[[gnu::always_inline]] inline void countRows(const Tests& tests, const uint8_t* codes,
                                             std::size_t rounds, CodeCensus& census) {
  Lanes nan{}, inf{}, signAlone{}, zero{}, atMax{}, belowMax{}, largest{};
  const auto next = static_cast<uint8_t>(tests.max - 1);
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const uint8_t code = codes[round * kLanes + lane] & tests.codeMask;
      uint8_t size = code & tests.magnitudeMask;
      if constexpr (TwosComplement) {
        const uint8_t negative = code & tests.sign ? 0xFF : 0;
        size = static_cast<uint8_t>((code ^ negative) - negative);
      }
      nan[lane] += size >= tests.nanFrom;
      inf[lane] += size == tests.inf;
      signAlone[lane] += code == tests.sign;
      zero[lane] += size == 0;
      atMax[lane] += size >= tests.max;
      belowMax[lane] += size == next;
      const uint8_t finite = size < std::min(tests.inf, tests.nanFrom) ? size : 0;
      largest[lane] = std::max(largest[lane], finite);
    }
  census.nan += sum(nan);
  census.inf += sum(inf);
  census.negativeZero += sum(signAlone);
  census.zero += sum(zero);
  census.atMax += sum(atMax);
  census.belowMax += sum(belowMax);
  census.largest = std::max(census.largest, *std::ranges::max_element(largest));
}

using CountRows = void (*)(const Tests&, const uint8_t*, std::size_t, CodeCensus&);

void countRowsBaseline(const Tests& tests, const uint8_t* codes, std::size_t rounds,
                       CodeCensus& census) {
  tests.twosComplement ? countRows<true>(tests, codes, rounds, census)
                       : countRows<false>(tests, codes, rounds, census);
}

#if defined(__x86_64__)
// The same loop compiled for 32-byte registers: twice the speed.
__attribute__((target("avx2"))) void countRowsAvx2(const Tests& tests, const uint8_t* codes,
                                                   std::size_t rounds, CodeCensus& census) {
  tests.twosComplement ? countRows<true>(tests, codes, rounds, census)
                       : countRows<false>(tests, codes, rounds, census);
}
CountRows chooseCountRows() {
  const kernels::Isa isa = kernels::defaultIsa();
  return isa == kernels::Isa::Avx2 || isa == kernels::Isa::Avx512 ? countRowsAvx2
                                                                  : countRowsBaseline;
}
#else
CountRows chooseCountRows() { return countRowsBaseline; }
#endif

/// Corrects what the byte tests cannot decide: `atMax` also counted specials, and the sign alone is
/// -0 only if the format has it.
void settle(const ElementFormat& format, CodeCensus& census) {
  census.atMax -= census.nan + census.inf;
  if (format.specials == Specials::UnsignedZero) {
    census.nan = census.negativeZero;
    census.zero -= census.negativeZero;
  }
  if (!format.hasNegativeZero())
    census.negativeZero = 0;
}

CodeCensus countBytes(const ElementFormat& format, const uint8_t* codes, std::size_t n) {
  const Tests tests = testsOf(format);
  CodeCensus census;
  census.count = n;
  const CountRows count = chooseCountRows();
  while (n >= kLanes) {
    const std::size_t rounds = std::min(n / kLanes, kRounds);
    count(tests, codes, rounds, census);
    codes += rounds * kLanes;
    n -= rounds * kLanes;
  }
  if (n > 0) { // the last codes, padded with zeros that are subtracted again
    Lanes last{};
    std::copy_n(codes, n, last.begin());
    count(tests, last.data(), 1, census);
    census.zero -= kLanes - n;
  }
  settle(format, census);
  return census;
}

} // namespace

CodeCensus& CodeCensus::operator+=(const CodeCensus& other) {
  count += other.count;
  nan += other.nan;
  inf += other.inf;
  negativeZero += other.negativeZero;
  zero += other.zero;
  atMax += other.atMax;
  belowMax += other.belowMax;
  largest = std::max(largest, other.largest);
  return *this;
}

CodeCensus takeCodeCensus(const ElementFormat& format, std::span<const std::byte> codes) {
  assert(format.isNarrow() && format.hasZero());
  return countBytes(format, reinterpret_cast<const uint8_t*>(codes.data()), codes.size());
}

CodeCensus takePackedCodeCensus(const ElementFormat& format, std::span<const std::byte> packed,
                                std::uint64_t count) {
  const int width = format.width();
  assert(packed.size() >= packedBytes(count, width));
  if (width == 8)
    return takeCodeCensus(format, packed.first(count));
  constexpr std::size_t kPiece = 1 << 15; // codes; a multiple of 8, so that pieces begin at a byte
  std::array<uint8_t, kPiece> codes;
  CodeCensus census;
  for (std::uint64_t begin = 0; begin < count; begin += kPiece) {
    const std::size_t n = std::min<std::uint64_t>(kPiece, count - begin);
    const std::byte* piece = packed.data() + packedBytes(begin, width);
    kernels::unpack(reinterpret_cast<const uint8_t*>(piece), n, width, codes.data(),
                    {.threads = 1});
    census += countBytes(format, codes.data(), n);
  }
  return census;
}

tl::expected<CodeCensus, Error> takeCodeCensus(const Part& elements, std::uint64_t begin,
                                               std::uint64_t end) {
  const ElementFormat& format = *elements.format;
  CodeCensus census;
  const auto add = [&](std::uint64_t, std::span<const std::byte> bytes) {
    census += elements.packed
                  ? takePackedCodeCensus(format, bytes, bytes.size() * 8 / format.width())
                  : takeCodeCensus(format, bytes);
    return true;
  };
  return forChunks(elements.tensor, begin, end, add).map([&] { return census; });
}

double magnitude(const ElementFormat& format, std::uint8_t code) {
  return std::fabs(numerics::decode(format, code));
}

} // namespace octavo::checkpoint
