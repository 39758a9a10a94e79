// Checks the attributes and types of a bytecode file, which refer to one another by number.
#pragma once

#include "octavo/Dialect/VHLO/BytecodeCursor.h"

#include "llvm/ADT/ArrayRef.h"

namespace octavo::vhlo {

/// Reports entries that are cut off, contain a list longer than the entry, contain themselves, nest
/// too deep or expand to too much. `sizes` gives each entry's length and dialect.
void checkEntries(Cursor entries, Cursor sizes, llvm::ArrayRef<llvm::StringRef> dialects,
                  Damage& damage);

} // namespace octavo::vhlo
