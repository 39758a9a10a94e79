// VHLO's operations: names, versions and attributes.
#pragma once

#include "octavo/Dialect/VHLO/Version.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace octavo::vhlo {

/// One version of an operation.
struct OperationRow {
  llvm::StringLiteral name; ///< with the operation's version: gather_v2
  /// The first version of VHLO that has it.
  Version since;
  Version until;                  ///< the last version of VHLO that has it
  llvm::StringLiteral attributes; ///< names, separated by spaces; all are required

  /// The name without its version: gather.
  llvm::StringRef stem() const;
  llvm::SmallVector<llvm::StringRef> attributeNames() const;
};

/// All rows, the table of Operations.cpp.
llvm::ArrayRef<OperationRow> operationRows();

/// The row named `name`, which is without `vhlo.`; null if there is none.
const OperationRow* findOperation(llvm::StringRef name);
/// The row of the operation `stem` in artifacts of `version`; null if they do not have it.
const OperationRow* findOperation(llvm::StringRef stem, const Version& version);
/// The row of the oldest version of an operation; null if VHLO does not have the operation.
const OperationRow* oldestOperation(llvm::StringRef stem);
/// The row of the newest version of an operation; null if VHLO does not have the operation.
const OperationRow* newestOperation(llvm::StringRef stem);

} // namespace octavo::vhlo
