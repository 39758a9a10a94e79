#include "octavo/Steps/Running.h"

#include "octavo/Parallel/Loops.h"
#include "octavo/Steps/Interruption.h"

#include <algorithm>
#include <type_traits>

namespace octavo::steps {

namespace {

/// Numbers that are worth a thread.
constexpr std::int64_t kNumbersWorthAThread = 32768;
/// Neighbours that are added side by side: lines whose numbers lie in a row wait for one another's
/// additions else.
constexpr std::int64_t kTogether = 8;
/// Of lines that lie side by side, so many that what the step before made is in cache.
constexpr std::int64_t kMostTogether = 1024;

/// `count` lines, `apart` numbers from one another, whose numbers are `next` apart.
template <typename Number, typename Combine>
void runLines(const Number* from, Number* to, std::int64_t count, std::int64_t apart,
              std::int64_t extent, std::int64_t next, Number first, const Combine& combine) {
  Number running[kTogether];
  std::fill_n(running, kTogether, first);
  for (std::int64_t i = 0; i < extent; ++i, from += next, to += next)
    for (std::int64_t line = 0; line < count; ++line)
      to[line * apart] = running[line] = combine(running[line], from[line * apart]);
}

/// The same of lines that lie side by side.
template <typename Number, typename Combine>
void runColumns(const Number* from, Number* to, std::int64_t count, std::int64_t extent,
                std::int64_t next, Number first, const Combine& combine) {
  for (std::int64_t line = 0; line < count; ++line)
    to[line] = combine(first, from[line]);
  for (std::int64_t i = 1; i < extent; ++i) {
    from += next;
    const Number* const before = to;
    to += next;
    for (std::int64_t line = 0; line < count; ++line)
      to[line] = combine(before[line], from[line]);
  }
}

} // namespace

std::int64_t RunningStep::bytesOf(Element element) {
  constexpr std::int64_t kBytes[] = {1, 2, 4, 8, 4, 8};
  return kBytes[static_cast<int>(element)];
}

template <typename Number> bool RunningStep::accumulate(Frame& frame) const {
  const auto [outer, extent, inner, isReversed] = layout;
  const std::int64_t all = outer.of(frame), block = extent * inner;
  const std::int64_t next = isReversed ? -inner : inner;
  const std::int64_t start = isReversed ? block - inner : 0;
  const auto* const given = frame.at<const Number>(from) + start;
  auto* const made = frame.at<Number>(to) + start;
  const auto add = [](Number a, Number b) { return static_cast<Number>(a + b); };
  const auto multiply = [](Number a, Number b) {
    // Unsigned numbers of 16 bits would be multiplied as signed ones of 32.
    if constexpr (std::is_integral_v<Number>)
      return static_cast<Number>(std::uint64_t{a} * b);
    else
      return a * b;
  };
  const bool areRows = inner == 1;
  const std::int64_t together = areRows ? kTogether : kMostTogether;
  const std::int64_t pieces = areRows ? 1 : (inner + together - 1) / together;
  const std::int64_t groups = areRows ? (all + together - 1) / together : all * pieces;
  const auto runGroup = [&](std::int64_t group, Number first, const auto& combine) {
    if (areRows) {
      const std::int64_t line = group * together;
      const std::int64_t count = std::min(together, all - line);
      if (count == together)
        runLines(given + line * block, made + line * block, together, block, extent, next, first,
                 combine);
      else
        runLines(given + line * block, made + line * block, count, block, extent, next, first,
                 combine);
      return;
    }
    const std::int64_t column = group % pieces * together;
    const std::int64_t at = group / pieces * block + column;
    runColumns(given + at, made + at, std::min(together, inner - column), extent, next, first,
               combine);
  };
  Interruption interruption(frame);
  const std::int64_t numbers = extent * std::min(together, areRows ? all : inner);
  parallel::forRanges(
      groups, std::max<std::int64_t>(1, kNumbersWorthAThread / std::max<std::int64_t>(1, numbers)),
      [&](std::int64_t begin, std::int64_t end) {
        for (; begin != end && !interruption.isAsked(); ++begin)
          if (combining == Operation::Add)
            runGroup(begin, Number{0}, add);
          else
            runGroup(begin, Number{1}, multiply);
      });
  return !interruption.wasAsked();
}

Outcome RunningStep::run(Frame& frame) const {
  if (layout.outer.of(frame) == 0 || layout.extent == 0 || layout.inner == 0)
    return {};
  const bool isWhole = [&] {
    switch (element) {
    case Element::I8:
      return accumulate<std::uint8_t>(frame);
    case Element::I16:
      return accumulate<std::uint16_t>(frame);
    case Element::I32:
      return accumulate<std::uint32_t>(frame);
    case Element::I64:
      return accumulate<std::uint64_t>(frame);
    case Element::F32:
      return accumulate<float>(frame);
    case Element::F64:
      return accumulate<double>(frame);
    }
    return true;
  }();
  return isWhole ? Outcome() : interruption(*this);
}

StepFacts RunningStep::facts() const {
  return {.kind = StepFacts::Kind::Running,
          .detail = combining == Operation::Add ? "sums" : "products",
          .bytes = 2 * static_cast<double>(layout.outer.count) *
                   static_cast<double>(layout.extent * layout.inner * bytesOf(element))};
}

} // namespace octavo::steps
