// The attributes and types of a bytecode file, which refer to one another by number.
#pragma once

#include "octavo/Dialect/VHLO/BytecodeCursor.h"

#include "llvm/ADT/ArrayRef.h"

namespace octavo::vhlo {

/// Reports entries that are cut off, lists longer than their entry, and entries that contain
/// themselves, nest too deep or stand for too much. `sizes` says where each entry begins and whose
/// it is.
void checkEntries(Cursor entries, Cursor sizes, llvm::ArrayRef<llvm::StringRef> dialects,
                  Damage& damage);

} // namespace octavo::vhlo
