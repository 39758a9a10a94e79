// Checks the operations of a bytecode file against the counts in the file.
#pragma once

#include "octavo/Dialect/VHLO/BytecodeCursor.h"

#include <cstdint>

namespace octavo::vhlo {

/// Reports inconsistent counts of values, uses, blocks and regions, and operations that nest too
/// deep. `version` is the bytecode's.
void checkOperations(Cursor section, std::uint64_t version, Damage& damage);

} // namespace octavo::vhlo
