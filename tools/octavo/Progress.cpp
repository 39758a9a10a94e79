#include "tools/octavo/Progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace octavo::tools {

namespace {

constexpr int kBarWidth = 20;

} // namespace

Progress::Progress(std::string what, std::uint64_t totalBytes)
    : line([this, what = std::move(what), totalBytes](double seconds) {
        return progressText(what, done.load(std::memory_order_relaxed), totalBytes, seconds);
      }) {}

std::string progressText(const std::string& what, std::uint64_t done, std::uint64_t total,
                         double seconds) {
  const double share =
      total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const int marks = static_cast<int>(share * kBarWidth);
  const bool isLarge = total >= 1'000'000'000;
  const double unit = isLarge ? 1e9 : 1e6;
  std::string text =
      fmt::format("{} [{:#<{}}{:.<{}}] {:3.0f}%, {:.1f} of {:.1f} {}", what, "", marks, "",
                  kBarWidth - marks, share * 100, done / unit, total / unit, isLarge ? "GB" : "MB");
  if (share > 0 && share < 1)
    text += fmt::format(", {:.0f} s left", seconds * (1 - share) / share);
  return text;
}

} // namespace octavo::tools
