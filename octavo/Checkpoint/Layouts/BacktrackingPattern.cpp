#include "octavo/Checkpoint/Layouts/BacktrackingPattern.h"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace octavo::checkpoint {

namespace {

constexpr std::size_t kLongestPattern = 10'000;
constexpr std::uint32_t kMemory = 16 * 1024; ///< heap limit in KiB

std::string message(int error) {
  PCRE2_UCHAR text[256];
  return ::pcre2_get_error_message(error, text, sizeof(text)) < 0
             ? fmt::format("error {}", error)
             : std::string(reinterpret_cast<const char*>(text));
}

int countStep(pcre2_callout_block*, void* steps) {
  return --static_cast<PatternSteps*>(steps)->left < 0 ? PCRE2_ERROR_MATCHLIMIT : 0;
}

} // namespace

struct BacktrackingPattern::Compiled {
  template <auto free> struct Free {
    template <typename T> void operator()(T* pointer) const { free(pointer); }
  };
  std::unique_ptr<pcre2_code, Free<pcre2_code_free>> code;
  std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>> match;
  std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>> limits;
  std::shared_ptr<PatternSteps> steps;
};

tl::expected<BacktrackingPattern, std::string>
BacktrackingPattern::compile(std::string_view text, std::shared_ptr<PatternSteps> steps) {
  if (text.size() > kLongestPattern)
    return tl::unexpected(fmt::format("longer than {} bytes", kLongestPattern));
  int error = 0;
  PCRE2_SIZE at = 0;
  auto compiled = std::make_shared<Compiled>();
  // Steps are counted by a callout before each item of the pattern. PCRE2's match limit applies
  // only to a single match.
  compiled->code.reset(::pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                       PCRE2_ANCHORED | PCRE2_AUTO_CALLOUT | PCRE2_NEVER_UTF |
                                           PCRE2_NEVER_BACKSLASH_C,
                                       &error, &at, nullptr));
  if (!compiled->code)
    return tl::unexpected(fmt::format("{} at its byte {}", message(error), at));
  compiled->match.reset(::pcre2_match_data_create_from_pattern(compiled->code.get(), nullptr));
  compiled->limits.reset(::pcre2_match_context_create(nullptr));
  if (!compiled->match || !compiled->limits)
    return tl::unexpected(std::string("there is no memory for it"));
  compiled->steps = std::move(steps);
  ::pcre2_set_heap_limit(compiled->limits.get(), kMemory);
  ::pcre2_set_callout(compiled->limits.get(), countStep, compiled->steps.get());
  return BacktrackingPattern(std::move(compiled));
}

std::optional<bool> BacktrackingPattern::matchesStart(std::string_view name) const {
  if (compiled->steps->left <= 0 || name.size() > kLongestName)
    return std::nullopt;
  const int found = ::pcre2_match(compiled->code.get(), reinterpret_cast<PCRE2_SPTR>(name.data()),
                                  name.size(), 0, 0, compiled->match.get(), compiled->limits.get());
  if (found < 0 && found != PCRE2_ERROR_NOMATCH) {
    compiled->steps->left = 0; // a pattern that fails on one name gets no further time
    return std::nullopt;
  }
  return found >= 0;
}

} // namespace octavo::checkpoint
