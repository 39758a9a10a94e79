// The file of a search's measurements, from which an interrupted search resumes.
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

/// The measurements of one search.
struct TuningState {
  std::string digest;                     ///< of everything that measurements depend on
  double origin = 0;                      ///< see lossOf
  std::vector<std::vector<double>> costs; ///< SearchProblem::costs, if they were measured
  std::map<Choice, Losses> measured;      ///< by choice: its losses
};

/// Reads the text of stateText. `file` names it in errors. Fails for text of another form or
/// version, numbers out of range, and choices or losses of different lengths.
tl::expected<TuningState, checkpoint::Error> parseState(std::string_view text,
                                                        const std::string& file);
tl::expected<TuningState, checkpoint::Error> readState(const std::filesystem::path& path);

std::string stateText(const TuningState& state);
/// Writes the file, whole or not at all.
tl::expected<void, checkpoint::Error> writeState(const std::filesystem::path& path,
                                                 const TuningState& state);

} // namespace octavo::analysis
