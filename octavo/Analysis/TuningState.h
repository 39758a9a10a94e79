// What a search measured, in a file, so that one that was interrupted goes on.
#pragma once

#include "octavo/Analysis/FormatSearch.h"
#include "octavo/Checkpoint/Files/Error.h"

#include <tl/expected.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::analysis {

struct TuningState {
  std::string digest;                     ///< of all that measurements depend on
  double origin = 0;                      ///< see lossOf
  std::vector<std::vector<double>> costs; ///< SearchProblem::costs, where they were measured
  std::map<Choice, Losses> measured;
};

/// Reads what stateText wrote; `file` stands for it in errors: what is no such file, numbers out of
/// range, choices of different lengths, losses of different lengths.
tl::expected<TuningState, checkpoint::Error> parseState(std::string_view text,
                                                        const std::string& file);
tl::expected<TuningState, checkpoint::Error> readState(const std::filesystem::path& path);

std::string stateText(const TuningState& state);
/// Writes it, whole or not at all.
tl::expected<void, checkpoint::Error> writeState(const std::filesystem::path& path,
                                                 const TuningState& state);

} // namespace octavo::analysis
