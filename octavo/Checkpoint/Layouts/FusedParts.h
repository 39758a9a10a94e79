// Weights of several projections in one tensor, with one scale for each projection.
#pragma once

#include "octavo/Checkpoint/Files/JsonFile.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// The number of rows of each of the `count` parts of a weight of `rows` rows: halves for gate and
/// up; for query, key and value from the heads in `config`. Empty if the names do not tell.
std::vector<std::int64_t> fusedPartRows(std::string_view module, std::string_view parameter,
                                        std::int64_t rows, std::int64_t count, const Json& config);

} // namespace octavo::checkpoint
