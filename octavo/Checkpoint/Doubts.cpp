#include "octavo/Checkpoint/Doubts.h"

#include <fmt/format.h>

#include <algorithm>

namespace octavo::checkpoint {

const DoubtRow& rowOf(Doubt doubt) { return *std::ranges::find(kDoubts, doubt, &DoubtRow::doubt); }

const DoubtRow* findDoubt(std::string_view name) {
  const auto found = std::ranges::find(kDoubts, name, &DoubtRow::name);
  return found == kDoubts.end() ? nullptr : &*found;
}

Error doubtError(Doubt doubt, std::string file, std::string tensor, std::string expected,
                 std::string found, std::optional<Doubt> comesOf) {
  const DoubtRow& row = rowOf(doubt);
  return {.file = std::move(file),
          .problem = fmt::format("has {}", row.noun),
          .tensor = std::move(tensor),
          .expected = std::move(expected),
          .found = std::move(found),
          .fix = fmt::format("export it again, or go on with --allow {}: then {}", row.name,
                             rowOf(comesOf.value_or(doubt)).then)};
}

Error doubtOfInputs(Doubt doubt, std::string file, std::string tensor, std::string found) {
  const DoubtRow& row = rowOf(doubt);
  return {.file = std::move(file),
          .problem = fmt::format("has {}, of what the model computes as it runs", row.noun),
          .tensor = std::move(tensor),
          .expected = "a positive, finite number",
          .found = std::move(found),
          .fix = fmt::format("calibrate again, or go on with --allow {}: then it is written as it "
                             "is, and no weight changes",
                             row.name)};
}

} // namespace octavo::checkpoint
