// The fields of entries in a bytecode file, for the dialects that octavo knows and that have their
// own encoding.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace octavo::vhlo {

/// The fields of an entry, one letter each; empty if the dialect or the code is unknown.
/// - a: the number of an attribute
/// - o: the number of an attribute or of none
/// - ?: a number that says whether an attribute follows, and the attribute's number
/// - t: the number of a type
/// - n: another number
/// - b: a byte
/// - B: a count and that many bytes
/// - [...]: a count and that many times the fields in brackets
/// The last fields of an entry have no letters if their size depends on earlier fields.
llvm::StringRef fieldsOf(llvm::StringRef dialect, bool isType, std::uint64_t code);

} // namespace octavo::vhlo
