#include "octavo/Program/Steps/Products/WindowLines.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace octavo::program {

namespace {

/// `runOf`: contiguous elements that a window sees of a line. `runsOfLine`: how many such runs
/// there are.
std::int64_t runOf(const PatchShape& shape) {
  const PatchAxis& inner = shape.axes.back();
  return inner.windowDilation == 1 ? inner.window * shape.features : shape.features;
}
std::int64_t runsOfLine(const PatchShape& shape) {
  const PatchAxis& inner = shape.axes.back();
  return inner.windowDilation == 1 ? 1 : inner.window;
}

} // namespace

/// A thread's memory, kept from one block of rows to the next.
struct WindowLines::Memory {
  struct Line {
    std::int64_t block = 0;
    std::uint64_t number = 0;
    const float* at = nullptr;
  };
  /// The entry for line `number` of this block. An entry of an earlier block counts as empty.
  Line& line(std::uint64_t number) {
    std::size_t place = static_cast<std::size_t>(number);
    for (;; ++place)
      if (Line& found = known[place & (known.size() - 1)];
          found.block != blocks || found.number == number)
        return found;
  }
  std::vector<float> lines, zeros;
  std::vector<Line> known; ///< hash table by line number; its size is a power of two
  std::vector<const float*> beginnings;
  std::vector<std::int64_t> lengths;
  std::int64_t blocks = 0;
};

bool WindowLines::isWorthIt(const PatchShape& shape) {
  constexpr std::int64_t kLeastRun = 8;
  // Limits on a line with padding and dilation, relative to the input: beyond them most of it is
  // zeros.
  constexpr double kMostOfExtent = 8, kMostBeside = 64;
  const PatchAxis& inner = shape.axes.back();
  const double length =
      static_cast<double>(inner.places) * static_cast<double>(inner.step) +
      static_cast<double>(inner.window) * static_cast<double>(inner.windowDilation);
  return shape.type == kernels::PlainType::F32 && inner.window != 0 && runOf(shape) >= kLeastRun &&
         length <= kMostOfExtent * static_cast<double>(inner.extent) + kMostBeside;
}

std::int64_t WindowLines::rowsAtATime(const PatchShape& shape) {
  constexpr std::int64_t kBytes = 128 * 1024, kTile = 24, kMost = 960;
  std::int64_t seen = shape.features;
  for (const PatchAxis& axis : shape.axes)
    seen *= std::max<std::int64_t>(1, std::min(axis.step, axis.window));
  const std::int64_t bytes =
      (seen + shape.outputs / shape.groups()) * static_cast<std::int64_t>(sizeof(float));
  return std::clamp(kBytes / bytes, kTile, kMost) / kTile * kTile;
}

WindowLines::WindowLines(const PatchShape& shape, const float* values, std::int64_t group)
    : shape(shape), inner(shape.axes.back()),
      values(values + shape.inputOffset + (shape.inputGroups > 1 ? group * shape.features : 0)),
      firstImage(shape.batchGroups > 1 ? group * shape.batch : 0) {
  const std::int64_t last =
      (inner.places - 1) * inner.step + (inner.window - 1) * inner.windowDilation - inner.low;
  const bool isInside = inner.inputDilation == 1 && inner.low <= 0 && last < inner.extent;
  const bool hasRuns = inner.inputStride == shape.features || runOf(shape) == shape.features;
  isInPlace = isInside && hasRuns;
  spacing = isInPlace ? inner.inputStride : shape.features;
}

/// Copies `count` positions of a line, from position `first` of the padded, dilated line on.
void WindowLines::copyLine(const float* line, std::int64_t first, std::int64_t count,
                           float* to) const {
  const std::int64_t features = shape.features;
  const auto bytes = [&](std::int64_t places) {
    return static_cast<std::size_t>(places * features) * sizeof(float);
  };
  if (inner.inputDilation == 1 && inner.inputStride == features) {
    const std::int64_t before = std::clamp<std::int64_t>(-first, 0, count);
    const std::int64_t end = std::clamp<std::int64_t>(inner.extent - first, before, count);
    std::memset(to, 0, bytes(before));
    std::memcpy(to + before * features, line + (first + before) * features, bytes(end - before));
    std::memset(to + end * features, 0, bytes(count - end));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, to += features)
    if (const std::int64_t at = inner.inInput(first + i); at < 0)
      std::memset(to, 0, bytes(1));
    else
      std::memcpy(to, line + at * inner.inputStride, bytes(1));
}

kernels::PiecedRows WindowLines::of(std::int64_t begin, std::int64_t end) {
  thread_local Memory memory;
  ++memory.blocks;
  const std::size_t outer = shape.axes.size() - 1;
  const std::int64_t rows = end - begin, places = inner.places;
  std::int64_t windows = 1;
  for (std::size_t axis = 0; axis < outer; ++axis)
    windows *= shape.axes[axis].window;
  const std::int64_t run = runOf(shape), runs = runsOfLine(shape);
  memory.zeros.assign(static_cast<std::size_t>(run), 0);
  memory.lengths.assign(static_cast<std::size_t>(windows * runs), run);
  memory.beginnings.resize(static_cast<std::size_t>(windows * runs * rows));
  const std::int64_t firstLine = begin / places, lastLine = (end - 1) / places;
  // If all rows are in one line of the result, only the part that they see is copied.
  const bool isOneLine = firstLine == lastLine;
  const std::int64_t x0 = isOneLine ? begin % places : 0;
  const std::int64_t x1 = isOneLine ? (end - 1) % places + 1 : places;
  const std::int64_t first = x0 * inner.step - inner.low;
  const std::int64_t length =
      (x1 - x0 - 1) * inner.step + (inner.window - 1) * inner.windowDilation + 1;
  if (!isInPlace) {
    const auto most = static_cast<std::size_t>((lastLine - firstLine + 1) * windows);
    memory.lines.resize(
        std::max(memory.lines.size(), most * static_cast<std::size_t>(length * spacing)));
    memory.known.resize(std::max(memory.known.size(), std::bit_ceil(2 * most + 1)));
  }

  float* next = memory.lines.data();
  for (std::int64_t line = firstLine, row = begin; line <= lastLine; ++line) {
    std::array<std::int64_t, kMostPatchAxes> place{}, window{};
    std::int64_t rest = line;
    for (std::size_t axis = outer; axis-- > 0;) {
      place[axis] = rest % shape.axes[axis].places;
      rest /= shape.axes[axis].places;
    }
    const std::int64_t x = row - line * places, rowEnd = std::min(end, (line + 1) * places);
    const float* image = values + (firstImage + rest) * shape.imageStride;
    for (std::int64_t w = 0; w < windows; ++w) {
      const float* from = image;
      auto number = static_cast<std::uint64_t>(rest); // index of the line among those of all images
      for (std::size_t axis = 0; axis < outer && from != nullptr; ++axis) {
        const std::int64_t at = shape.axes[axis].inInput(place[axis], window[axis]);
        from = at < 0 ? nullptr : from + at * shape.axes[axis].inputStride;
        number = number * static_cast<std::uint64_t>(shape.axes[axis].extent) +
                 static_cast<std::uint64_t>(at);
      }
      if (from != nullptr && isInPlace) {
        from += first * spacing;
      } else if (from != nullptr) {
        Memory::Line& known = memory.line(number);
        if (known.block != memory.blocks) {
          copyLine(from, first, length, next);
          known = {.block = memory.blocks, .number = number, .at = next};
          next += length * spacing;
        }
        from = known.at;
      }
      for (std::int64_t k = 0; k < runs; ++k) {
        const float** to = memory.beginnings.data() + (w * runs + k) * rows + (row - begin);
        if (from == nullptr) {
          std::fill_n(to, rowEnd - row, memory.zeros.data());
          continue;
        }
        const float* at = from + ((x - x0) * inner.step + k * inner.windowDilation) * spacing;
        for (std::int64_t i = row; i < rowEnd; ++i, at += inner.step * spacing)
          *to++ = at;
      }
      for (std::size_t axis = outer; axis-- > 0;) {
        if (++window[axis] < shape.axes[axis].window)
          break;
        window[axis] = 0;
      }
    }
    row = rowEnd;
  }
  return {.beginnings = memory.beginnings.data(), .lengths = memory.lengths};
}

} // namespace octavo::program
