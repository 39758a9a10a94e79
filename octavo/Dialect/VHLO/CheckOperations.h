// The operations of a bytecode file held against the counts that the file states.
#pragma once

#include "octavo/Dialect/VHLO/BytecodeCursor.h"

#include <cstdint>

namespace octavo::vhlo {

/// Reports where the counts of values, uses, blocks and regions do not fit together, and operations
/// that nest too deep. `version` is the bytecode's.
void checkOperations(Cursor section, std::uint64_t version, Damage& damage);

} // namespace octavo::vhlo
