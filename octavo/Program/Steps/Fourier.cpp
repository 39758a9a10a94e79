#include "octavo/Program/Steps/Fourier.h"

#include "octavo/Base/Lanes.h"
#include "octavo/Base/Loops.h"
#include "octavo/Numerics/Fourier.h"
#include "octavo/Numerics/Tensor.h"
#include "octavo/Program/Steps/BorrowedWorker.h"
#include "octavo/Program/Steps/Interruption.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace octavo::program {

namespace {

using base::kLanes;
using base::Lanes;

/// The least number of elements per thread.
constexpr std::int64_t kGrain = 4096;

/// A complex number of one line, or of kLanes lines side by side.
template <typename Lane> struct Number {
  Lane re, im;
};

/// Adds x times a root. Each part is rounded in the order of the formula.
template <typename Lane, typename Real>
OCTAVO_INTO_CLONES void addTurned(Number<Lane>& sum, const Number<Lane>& x, Real re, Real im) {
  sum.re += x.re * re - x.im * im;
  sum.im += x.re * im + x.im * re;
}

/// Transforms lines in place. Their numbers are in the plan's order. Sums at each stage are those
/// of Interpreter/Tensor/Fft.cpp.
template <typename Lane, typename Real>
OCTAVO_INTO_CLONES void transformLines(const FourierPlan<Real>& plan, Number<Lane>* line,
                                       Number<Lane>* taken) {
  const std::complex<Real>* roots = plan.roots.data();
  std::int64_t m = 1;
  for (const std::int64_t p : plan.factors) {
    const std::int64_t size = m * p, turn = plan.n / size;
    for (Number<Lane>* to = line; to != line + plan.n; to += size)
      for (std::int64_t k = 0; k < m; ++k) {
        if (p == 2) {
          // The second root is the negative of the first.
          const Real re = roots[k * turn].real(), im = roots[k * turn].imag();
          const Number<Lane> x = to[k];
          Number<Lane> sum = x, difference = x;
          addTurned(sum, to[m + k], re, im);
          addTurned(difference, to[m + k], -re, -im);
          to[k] = sum;
          to[m + k] = difference;
          continue;
        }
        for (std::int64_t j = 0; j < p; ++j)
          taken[j] = to[j * m + k];
        for (std::int64_t q = 0; q < p; ++q) {
          const std::int64_t step = k + q * m;
          Number<Lane> sum = taken[0];
          for (std::int64_t j = 1, at = step; j < p; ++j) {
            addTurned(sum, taken[j], roots[at * turn].real(), roots[at * turn].imag());
            at += step;
            if (at >= size)
              at -= size;
          }
          to[q * m + k] = sum;
        }
      }
    m = size;
  }
  if (plan.isInverse)
    for (Number<Lane>* to = line; to != line + plan.n; ++to) {
      to->re /= static_cast<Real>(plan.n);
      to->im /= static_cast<Real>(plan.n);
    }
}

bool isReal(FourierStep::Kind kind) {
  return kind == FourierStep::Kind::RealForward || kind == FourierStep::Kind::RealInverse;
}
bool isInverse(FourierStep::Kind kind) {
  return kind == FourierStep::Kind::Inverse || kind == FourierStep::Kind::RealInverse;
}

/// The complex numbers that are kept of a real transform's last axis.
std::int64_t keptOf(std::int64_t length) { return length == 0 ? 0 : length / 2 + 1; }

/// The extent of an axis in the intermediate memory.
std::int64_t extentOf(FourierStep::Kind kind, std::span<const std::int64_t> lengths,
                      std::size_t axis) {
  const bool isHalf = kind == FourierStep::Kind::RealForward && axis + 1 == lengths.size();
  return isHalf ? keptOf(lengths[axis]) : lengths[axis];
}

/// The number of elements of the axes from `axis` on in the intermediate memory.
std::int64_t sizeFrom(FourierStep::Kind kind, std::span<const std::int64_t> lengths,
                      std::size_t axis) {
  std::int64_t size = 1;
  for (; axis < lengths.size(); ++axis)
    size *= extentOf(kind, lengths, axis);
  return size;
}

} // namespace

OCTAVO_VECTOR_CLONES void transformAll(const FourierPlan<double>& plan, Number<Lanes>* lines,
                                       Number<Lanes>* taken) {
  transformLines(plan, lines, taken);
}
OCTAVO_VECTOR_CLONES void transformAll(const FourierPlan<double>& plan, Number<double>* line,
                                       Number<double>* taken) {
  transformLines(plan, line, taken);
}
void transformAll(const FourierPlan<long double>& plan, Number<long double>* line,
                  Number<long double>* taken) {
  transformLines(plan, line, taken);
}

template <typename Real>
FourierPlan<Real>::FourierPlan(std::int64_t n, bool isInverse)
    : n(n), isInverse(isInverse), roots(numerics::rootsOfUnity<Real>(n, isInverse)) {
  // With factor p, each p-th number goes to one of p parts, and so on within each part.
  order.assign(static_cast<std::size_t>(n), 0);
  for (std::int64_t size = n, stride = 1; size > 1;) {
    const std::int64_t p = numerics::smallestFactor(size), part = size / p;
    for (std::int64_t place = 0; place < n; ++place)
      order[static_cast<std::size_t>(place)] += place / part % p * stride;
    factors.insert(factors.begin(), p);
    size = part;
    stride *= p;
  }
}

std::uint64_t FourierStep::wideBytes(Kind kind, bool isF64,
                                     const std::vector<std::int64_t>& lengths) {
  const std::size_t each = isF64 ? sizeof(std::complex<long double>) : sizeof(std::complex<double>);
  return lengths.size() == 1 ? 0 : static_cast<std::uint64_t>(sizeFrom(kind, lengths, 0)) * each;
}

void FourierStep::plan() const {
  const auto make = [&]<typename Real>(Real) {
    Plans<Real> all;
    for (const std::int64_t length : lengths)
      all.emplace_back(length, isInverse(kind));
    plans = std::move(all);
  };
  isF64 ? make(numerics::TransformedIn<double>{}) : make(numerics::TransformedIn<float>{});
}

namespace {

/// A line: the index of its first number in the input and in the output.
struct Line {
  std::int64_t source, place;
  bool isMirrored; ///< its numbers are conjugates of those of another line
};

/// The lines along one axis, and their layout in the input.
class Lines {
public:
  Lines(FourierStep::Kind kind, std::span<const std::int64_t> lengths, std::size_t axis)
      : kind(kind), lengths(lengths), axis(axis), last(lengths.back()), kept(keptOf(last)),
        inner(sizeFrom(kind, lengths, axis + 1)) {}

  std::int64_t next() const { return inner; } ///< from one number of a line to the next
  std::int64_t extent() const { return extentOf(kind, lengths, axis); }
  Line line(std::int64_t number, bool isFirst) const {
    Line found{.source = number * last, .place = number * extent(), .isMirrored = false};
    if (!isLastAxis())
      found.source = found.place = number / inner * inner * lengths[axis] + number % inner;
    return isFirst && kind == FourierStep::Kind::RealInverse ? mirrored(found) : found;
  }
  template <typename Wide, typename Part>
  Wide number(const Part* given, const Line& line, std::int64_t i) const {
    const auto at = [&](std::int64_t place) {
      return Wide(given[2 * place], given[2 * place + 1]);
    };
    switch (kind) {
    case FourierStep::Kind::RealForward:
      return given[line.source + i];
    case FourierStep::Kind::Forward:
    case FourierStep::Kind::Inverse:
      return at(line.source + i * inner);
    case FourierStep::Kind::RealInverse:
      break;
    }
    if (isLastAxis())
      return i < kept ? at(line.source + i) : std::conj(at(line.source + last - i));
    const std::int64_t next = inner / last * kept;
    return line.isMirrored ? std::conj(at(line.source + (i == 0 ? 0 : lengths[axis] - i) * next))
                           : at(line.source + i * next);
  }

private:
  bool isLastAxis() const { return axis + 1 == lengths.size(); }
  /// X[-k, n - j] is the conjugate of X[k, j]: along the other transformed axes the index is
  /// negated.
  Line mirrored(Line line) const {
    std::int64_t rest = line.place / last, stride = kept;
    const std::int64_t column = line.place % last;
    line.isMirrored = column >= kept;
    line.source = line.isMirrored ? last - column : column;
    for (std::size_t each = lengths.size() - 1; each-- > 0;) {
      const std::int64_t index = rest % lengths[each];
      rest /= lengths[each];
      line.source += (line.isMirrored && index != 0 ? lengths[each] - index : index) * stride;
      stride *= lengths[each];
    }
    line.source += rest * stride;
    return line;
  }

  FourierStep::Kind kind;
  std::span<const std::int64_t> lengths;
  std::size_t axis;
  std::int64_t last, kept, inner;
};

/// Transforms lines. `load` and `store` take a line that `lineOf` returns, and an index in it.
/// False if the run was interrupted.
template <typename Real, typename LineOf, typename Load, typename Store>
bool transformEach(Frame& frame, const FourierPlan<Real>& plan, std::int64_t count,
                   const LineOf& lineOf, const Load& load, const Store& store) {
  // f64 transforms kLanes lines at a time.
  constexpr std::int64_t kAtOnce = std::is_same_v<Real, double> ? kLanes : 1;
  const std::int64_t most = plan.factors.empty() ? 0 : plan.factors.front();
  const auto transform = [&]<typename Lane>(Worker& worker, std::int64_t first, std::int64_t used,
                                            Lane) {
    constexpr auto kWidth = static_cast<std::int64_t>(sizeof(Lane) / sizeof(Real));
    auto* const numbers = reinterpret_cast<Number<Lane>*>(
        worker.room(static_cast<std::size_t>(plan.n + most) * sizeof(Number<Lane>)));
    auto* const parts = reinterpret_cast<Real*>(numbers);
    std::array<Line, kAtOnce> lines;
    for (std::int64_t lane = 0; lane < used; ++lane)
      lines[static_cast<std::size_t>(lane)] = lineOf(first + lane);
    for (std::int64_t i = 0; i < plan.n; ++i) {
      numbers[i] = {};
      for (std::int64_t lane = 0; lane < used; ++lane) {
        const std::complex<Real> x =
            load(lines[static_cast<std::size_t>(lane)], plan.order[static_cast<std::size_t>(i)]);
        parts[2 * i * kWidth + lane] = x.real();
        parts[(2 * i + 1) * kWidth + lane] = x.imag();
      }
    }
    transformAll(plan, numbers, numbers + plan.n);
    for (std::int64_t i = 0; i < plan.n; ++i)
      for (std::int64_t lane = 0; lane < used; ++lane)
        store(lines[static_cast<std::size_t>(lane)], i,
              std::complex<Real>(parts[2 * i * kWidth + lane], parts[(2 * i + 1) * kWidth + lane]));
  };
  Interruption interruption(frame);
  base::forRanges(
      (count + kAtOnce - 1) / kAtOnce, std::max<std::int64_t>(1, kGrain / (kAtOnce * plan.n)),
      [&](std::int64_t begin, std::int64_t end) {
        const BorrowedWorker worker(frame);
        for (std::int64_t group = begin; group != end && !interruption.isAsked(); ++group) {
          const std::int64_t first = group * kAtOnce, used = std::min(kAtOnce, count - first);
          if constexpr (kAtOnce > 1)
            if (used > 1) {
              transform(*worker, first, used, Lanes{});
              continue;
            }
          transform(*worker, first, used, Real{});
        }
      });
  return !interruption.wasAsked();
}

} // namespace

template <typename Part> bool FourierStep::transform(Frame& frame) const {
  using Real = numerics::TransformedIn<Part>;
  using Wide = std::complex<Real>;
  const auto& all = std::get<Plans<Real>>(plans);
  const std::size_t rank = lengths.size();
  const std::int64_t numbers = count.of(frame) * sizeFrom(kind, lengths, 0);
  const auto* given = frame.at<const Part>(from);
  auto* result = frame.at<Part>(to);
  Wide* between = rank > 1 ? frame.at<Wide>(wide) : nullptr;
  for (std::size_t turn = 0; turn < rank; ++turn) {
    // Forward transforms begin with the last axis, inverse ones end with it.
    const std::size_t axis = isInverse(kind) ? turn : rank - 1 - turn;
    const bool isFirst = turn == 0, isLast = turn + 1 == rank;
    const Lines lines(kind, lengths, axis);
    const std::int64_t next = lines.next(), extent = lines.extent();
    const auto load = [&](const Line& line, std::int64_t i) {
      return isFirst ? lines.number<Wide>(given, line, i) : between[line.place + i * next];
    };
    const auto store = [&](const Line& line, std::int64_t i, const Wide& x) {
      const std::int64_t place = line.place + i * next;
      if (i >= extent)
        return;
      if (!isLast) {
        between[place] = x;
      } else if (kind == Kind::RealInverse) {
        result[place] = static_cast<Part>(x.real());
      } else {
        result[2 * place] = static_cast<Part>(x.real());
        result[2 * place + 1] = static_cast<Part>(x.imag());
      }
    };
    if (!transformEach(
            frame, all[axis], numbers / extent,
            [&](std::int64_t number) { return lines.line(number, isFirst); }, load, store))
      return false;
  }
  return true;
}

Outcome FourierStep::run(Frame& frame) const {
  if (numerics::elementCount(lengths) == 0 || count.of(frame) == 0)
    return {};
  std::call_once(isPlanned, [&] { plan(); });
  const bool isWhole = isF64 ? transform<double>(frame) : transform<float>(frame);
  return isWhole ? Outcome() : interruption(*this);
}

StepFacts FourierStep::facts() const {
  static constexpr std::string_view kNames[] = {"forward", "inverse", "real forward",
                                                "real inverse"};
  const double part = isF64 ? sizeof(double) : sizeof(float);
  const auto numbers = static_cast<double>(count.of(1) * numerics::elementCount(lengths));
  return {.kind = StepFacts::Kind::Fourier,
          .detail = fmt::format("{}, of {}", kNames[static_cast<std::size_t>(kind)],
                                fmt::join(lengths, " x ")),
          .bytes = part * numbers * (isReal(kind) ? 2 : 4)};
}

} // namespace octavo::program
