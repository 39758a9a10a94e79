#include "octavo/Program/Steps/Running.h"

#include "octavo/Base/Loops.h"
#include "octavo/Program/Steps/Interruption.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

namespace octavo::program {

namespace {

/// The least number of elements per thread.
constexpr std::int64_t kNumbersWorthAThread = 32768;
/// Of lines with contiguous numbers, kTogether run at a time, because each operation waits for the
/// one before it in its line. Of interleaved lines, kMostTogether: their running results stay in
/// cache.
constexpr std::int64_t kTogether = 8, kMostTogether = 1024;

struct Bf16 {
  std::uint16_t bits;
};

float widened(Bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }
template <typename Number> Number widened(Number x) { return x; }

/// A number as stored.
template <typename Number, typename Wide> Number stored(Wide x) {
  if constexpr (std::is_same_v<Number, Bf16>) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if (x != x)
      return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
    return {static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
  } else {
    return x;
  }
}

/// Rule I5: NaN if either is NaN; -0 is less than +0.
template <bool kIsMaximum, typename Float> Float extreme(Float a, Float b) {
  if (a != a || b != b)
    return std::numeric_limits<Float>::quiet_NaN();
  if (a == b)
    return std::signbit(a) == kIsMaximum ? b : a;
  return (a > b) == kIsMaximum ? a : b;
}

/// An operation on two numbers, and its initial value.
template <RunningStep::Operation kOperation, typename Number> struct Combination {
  static constexpr bool kIsMaximum = kOperation == RunningStep::Operation::Maximum;
  static constexpr bool kAdds = kOperation == RunningStep::Operation::Add;
  static constexpr bool kMultiplies = kOperation == RunningStep::Operation::Multiply;

  static Number first() {
    if constexpr (kAdds || kMultiplies)
      return Number(kMultiplies ? 1 : 0);
    else if constexpr (std::is_integral_v<Number>)
      return kIsMaximum ? std::numeric_limits<Number>::lowest()
                        : std::numeric_limits<Number>::max();
    else
      return kIsMaximum ? -std::numeric_limits<Number>::infinity()
                        : std::numeric_limits<Number>::infinity();
  }
  Number operator()(Number a, Number b) const {
    if constexpr (std::is_integral_v<Number>) {
      // u16 operands would be promoted to int, and their product could overflow.
      const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
      if constexpr (kAdds || kMultiplies)
        return static_cast<Number>(kAdds ? x + y : x * y);
      else
        return kIsMaximum ? std::max(a, b) : std::min(a, b);
    } else if constexpr (kAdds || kMultiplies) {
      return kAdds ? a + b : a * b;
    } else {
      return extreme<kIsMaximum>(a, b);
    }
  }
};

/// Up to kMostTogether lines, `apart` numbers from one another; numbers of a line are `next` apart.
template <typename Combine, typename Number, typename Apart>
void runLines(const Number* from, Number* to, std::int64_t count, Apart apart, std::int64_t extent,
              std::int64_t step) {
  decltype(Combine::first()) running[kMostTogether];
  std::fill_n(running, count, Combine::first());
  for (std::int64_t i = 0; i < extent; ++i, from += step, to += step)
    for (std::int64_t line = 0; line < count; ++line) {
      const Number next = stored<Number>(Combine()(running[line], widened(from[line * apart])));
      running[line] = widened(next);
      to[line * apart] = next;
    }
}

} // namespace

std::int64_t RunningStep::bytesOf(Element element) {
  constexpr std::int64_t kBytes[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 2};
  return kBytes[static_cast<int>(element)];
}

template <typename Number, typename Combine> bool RunningStep::accumulate(Frame& frame) const {
  const bool isReversed = layout.isReversed;
  const std::int64_t all = layout.outer.of(frame), extent = layout.extent.of(frame),
                     inner = layout.inner.of(frame), block = extent * inner;
  const std::int64_t next = isReversed ? -inner : inner;
  const std::int64_t start = isReversed ? block - inner : 0;
  const auto* const given = frame.at<const Number>(from) + start;
  auto* const made = frame.at<Number>(to) + start;
  const bool areRows = inner == 1;
  const std::int64_t together = areRows ? kTogether : kMostTogether;
  const std::int64_t lines = areRows ? all : inner; // lines that lie side by side
  const std::int64_t pieces = (lines + together - 1) / together;
  const auto runPiece = [&](std::int64_t number) {
    const std::int64_t line = number % pieces * together, count = std::min(together, lines - line);
    const std::int64_t at = areRows ? line * block : number / pieces * block + line;
    if (areRows)
      runLines<Combine>(given + at, made + at, count, block, extent, next);
    else
      runLines<Combine>(given + at, made + at, count, std::integral_constant<std::int64_t, 1>(),
                        extent, next);
  };
  Interruption interruption(frame);
  base::forRanges(
      areRows ? pieces : all * pieces,
      std::max<std::int64_t>(1, kNumbersWorthAThread / (extent * std::min(together, lines))),
      [&](std::int64_t begin, std::int64_t end) {
        for (; begin != end && !interruption.isAsked(); ++begin)
          runPiece(begin);
      });
  return !interruption.wasAsked();
}

Outcome RunningStep::run(Frame& frame) const {
  if (layout.outer.of(frame) == 0 || layout.extent.of(frame) == 0 || layout.inner.of(frame) == 0)
    return {};
  const auto of = [&]<typename Number>(Number x) {
    using Wide = decltype(widened(x));
    switch (combining) {
    case Operation::Add:
      return accumulate<Number, Combination<Operation::Add, Wide>>(frame);
    case Operation::Multiply:
      return accumulate<Number, Combination<Operation::Multiply, Wide>>(frame);
    case Operation::Maximum:
      return accumulate<Number, Combination<Operation::Maximum, Wide>>(frame);
    case Operation::Minimum:
      return accumulate<Number, Combination<Operation::Minimum, Wide>>(frame);
    }
    return true;
  };
  const bool isWhole = [&] {
    switch (element) {
    case Element::I8:
      return of(std::int8_t());
    case Element::I16:
      return of(std::int16_t());
    case Element::I32:
      return of(std::int32_t());
    case Element::I64:
      return of(std::int64_t());
    case Element::U8:
      return of(std::uint8_t());
    case Element::U16:
      return of(std::uint16_t());
    case Element::U32:
      return of(std::uint32_t());
    case Element::U64:
      return of(std::uint64_t());
    case Element::F32:
      return of(float());
    case Element::F64:
      return of(double());
    case Element::Bf16:
      return of(Bf16());
    }
    return true;
  }();
  return isWhole ? Outcome() : interruption(*this);
}

StepFacts RunningStep::facts() const {
  static constexpr std::string_view kNames[] = {"sums", "products", "maxima", "minima"};
  return {.kind = StepFacts::Kind::Running,
          .detail = std::string(kNames[static_cast<int>(combining)]),
          .bytes =
              2 * static_cast<double>(layout.outer.of(1)) *
              static_cast<double>(layout.extent.of(1) * layout.inner.of(1) * bytesOf(element))};
}

} // namespace octavo::program
