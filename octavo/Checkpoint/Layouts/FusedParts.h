// Weights of several projections that readers run as one, stored as one tensor with a scale for
// each of them.
#pragma once

#include "octavo/Checkpoint/Files/JsonFile.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// How many of the `rows` of a weight are each of its `count` parts: the halves of gate and up;
/// query, key and value by the heads of `config`. Empty where the names do not tell.
std::vector<std::int64_t> fusedPartRows(std::string_view module, std::string_view parameter,
                                        std::int64_t rows, std::int64_t count, const Json& config);

} // namespace octavo::checkpoint
