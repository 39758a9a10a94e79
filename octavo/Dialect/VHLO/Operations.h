// What VHLO's operations are called, since when, and which attributes they carry.
#pragma once

#include "octavo/Dialect/VHLO/Version.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace octavo::vhlo {

struct OperationRow {
  llvm::StringLiteral name; ///< with its own version: gather_v2
  Version since;
  Version until;                  ///< the last version that has it
  llvm::StringLiteral attributes; ///< names, separated by blanks; all of them are required

  /// The name without its version: gather.
  llvm::StringRef stem() const;
  llvm::SmallVector<llvm::StringRef> attributeNames() const;
};

llvm::ArrayRef<OperationRow> operationRows();

/// The row of that name, without `vhlo.`; null if there is none.
const OperationRow* findOperation(llvm::StringRef name);
/// The row of the operation that artifacts of a version have; null if they have none.
const OperationRow* findOperation(llvm::StringRef stem, const Version& version);
/// The row of the first version of an operation; null if VHLO does not have it.
const OperationRow* oldestOperation(llvm::StringRef stem);
/// The row of the newest version of an operation; null if VHLO does not have it.
const OperationRow* newestOperation(llvm::StringRef stem);

} // namespace octavo::vhlo
