// KV caches: tensors that a program takes, appends to, reads in dots and returns, carried as codes
// and scales.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/QuantizeOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::transforms {

/// What caches of a name are stored in.
struct CacheRule {
  std::string where; ///< of the recipe, for messages: "model.json: kv_cache"
  /// Of an argument, whole, or a regular expression (RE2) after `re:`, found anywhere in one; `*`
  /// for every cache.
  std::string name;
  const format::ScaledFormat* format; ///< null: they stay as they are
  /// What becomes of NaN and infinities in what is appended.
  numerics::NonFinite nonFinite = numerics::NonFinite::Error;
};

/// What happened to one argument that is appended to, or that a rule names.
struct CacheRecord {
  std::string name;
  std::string function;
  mlir::Location location;
  const format::ScaledFormat* format = nullptr;               ///< null: it is left
  numerics::NonFinite nonFinite = numerics::NonFinite::Error; ///< of its rule
  std::string reason = {};                                    ///< why it is left
  bool isKept = false;                 ///< it is left since no rule gives it a format
  std::string codes = {}, scales = {}; ///< types of the arguments: "tensor<4x8xf4E2M1FN>"
  std::int64_t bitsBefore = 0, bitsAfter = 0;
};

/// What is wrong with rules, whatever the program.
llvm::Error checkCaches(llvm::ArrayRef<CacheRule> rules);

/// Carries the caches of a verified module as codes, in the place of the argument and the result,
/// and as scales, a state of the program named after the cache (ProgramState.h). What
/// dynamic_update_slice appends is quantized there, in blocks along the last axis that it covers;
/// what reads a cache reads octavo.dequantize of it. Of each cache the first rule decides that has
/// its name. The error names a rule whose name no argument has, or says that there is no cache.
llvm::Expected<std::vector<CacheRecord>> quantizeCaches(mlir::ModuleOp module,
                                                        llvm::ArrayRef<CacheRule> rules);

/// The record of the cache that a value is a view of, as it is or with what was appended; null: of
/// none.
const CacheRecord* cacheBehind(mlir::Value value, llvm::ArrayRef<CacheRecord> caches);

} // namespace octavo::transforms
