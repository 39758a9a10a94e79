// What the entries of a bytecode file consist of, for those dialects that encode them in a way of
// their own and that octavo knows.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace octavo::vhlo {

/// The fields of an entry, a letter each: the number of an attribute (a), of one or none (o), of
/// one behind a number that says whether it is there (?) or of a type (t), another number (n), a
/// byte (b), bytes with their count (B), and in brackets what a list has many times. The last
/// fields have no letters where their size depends on what was read before.
llvm::StringRef fieldsOf(llvm::StringRef dialect, bool isType, std::uint64_t code);

} // namespace octavo::vhlo
