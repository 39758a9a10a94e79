#include "octavo/Checkpoint/Files/TemporaryName.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace octavo::checkpoint {

static constexpr std::string_view kPrefix = ".octavo-";
static constexpr std::string_view kSuffix = ".part";
static constexpr std::size_t kDigits = 32;

std::string temporaryName() {
  std::random_device random; // the system's random source
  const auto word = [&] { return std::uint64_t{random()} << 32 | random(); };
  return fmt::format("{}{:016x}{:016x}{}", kPrefix, word(), word(), kSuffix);
}

bool isTemporaryName(std::string_view name) {
  if (name.size() != kPrefix.size() + kDigits + kSuffix.size() || !name.starts_with(kPrefix) ||
      !name.ends_with(kSuffix))
    return false;
  return std::ranges::all_of(name.substr(kPrefix.size(), kDigits), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

} // namespace octavo::checkpoint
