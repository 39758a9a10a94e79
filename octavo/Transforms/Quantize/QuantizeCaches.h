// Quantizes KV caches: tensors that a program takes, appends to, reads in dots and returns become
// codes and scales.
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

/// A rule of a recipe for caches of a name.
struct CacheRule {
  std::string where; ///< the rule's position, for messages: "model.json: kv_cache"
  /// The exact name of an argument, or, after `re:`, a regular expression (RE2) that may match
  /// anywhere; `*` for every cache.
  std::string name;
  const format::ScaledFormat* format; ///< null: left as they are
  /// The policy for NaN and infinities in appended values.
  numerics::NonFinite nonFinite = numerics::NonFinite::Error;
};

/// What happened to an argument that is appended to or that a rule names.
struct CacheRecord {
  std::string name;
  std::string function;
  mlir::Location location;
  const format::ScaledFormat* format = nullptr;               ///< null: left
  numerics::NonFinite nonFinite = numerics::NonFinite::Error; ///< as in its rule
  std::string reason = {};                                    ///< why it was left
  bool isKept = false;                 ///< left because no rule gives it a format
  std::string codes = {}, scales = {}; ///< types of the new arguments: "tensor<4x8xf4E2M1FN>"
  std::int64_t bitsBefore = 0, bitsAfter = 0;
};

/// Fails if a rule's regular expression is invalid or its format does not fit a cache, whatever the
/// program.
llvm::Error checkCaches(llvm::ArrayRef<CacheRule> rules);

/// Replaces each cache of a verified module by codes, as argument and as result. Its scales become
/// state of the program, named after the cache (ProgramState.h). What dynamic_update_slice appends
/// is quantized at that place, in blocks along the last axis that it covers whole. Readers of the
/// cache read octavo.dequantize of it. The first rule that matches the name decides. Fails if a
/// rule's name matches no argument, or there is no cache.
llvm::Expected<std::vector<CacheRecord>> quantizeCaches(mlir::ModuleOp module,
                                                        llvm::ArrayRef<CacheRule> rules);

/// The record of the cache that `value` is a view of, with or without appended parts; null if of
/// none.
const CacheRecord* cacheBehind(mlir::Value value, llvm::ArrayRef<CacheRecord> caches);

} // namespace octavo::transforms
