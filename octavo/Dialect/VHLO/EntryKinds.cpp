#include "octavo/Dialect/VHLO/EntryKinds.h"

#include "octavo/Dialect/VHLO/Codes.h"

#include "llvm/ADT/StringSwitch.h"

namespace octavo::vhlo {

namespace {

struct Kind {
  std::uint64_t code;
  llvm::StringLiteral fields;
};

// As in MLIR's BuiltinDialectBytecode.td and QuantDialectBytecode.td.
constexpr Kind kBuiltinAttributes[] = {
    {0, "[a]"},  {1, "[aa]"},  {2, "n"},    {3, "nt"}, {4, "a"},     {5, "a[a]"},
    {6, "t"},    {7, ""},      {8, "t"},    {9, "t"},  {10, "aa"},   {11, "ann"},
    {12, "[a]"}, {13, "[a]a"}, {14, "aa"},  {15, ""},  {16, "tn"},   {17, "tnB"},
    {18, "tB"},  {19, "tn"},   {20, "taa"}, {21, "a"}, {22, "a[n]"},
};
constexpr Kind kBuiltinTypes[] = {
    {0, "n"},     {2, "[t][t]"}, {9, "t"},        {10, "[n]ta"}, {11, "a[n]ta"},
    {13, "[n]t"}, {14, "a[n]t"}, {15, "[t]"},     {16, "t"},     {17, "at"},
    {18, "t"},    {19, "[n]t"},  {20, "[b][n]t"},
};
constexpr Kind kQuantTypes[] = {
    {1, "ntnn"},    {2, "nttnn"},        {3, "tnn"},
    {4, "nttnnnn"}, {5, "nttnnn[n][n]"}, {6, "nttnn[n][n]aa"},
};
constexpr Kind kPortableAttributes[] = {
    {kArray, "[a]"},
    {kBoolean, "n"},
    {kDictionary, "[aa]"},
    {kFloat, "t"},
    {kInteger, "t"},
    {kOutputOperandAlias, "[n]n[n]"},
    {kString, "n"},
    {kTensor, "tB"},
    {kType, "t"},
    {kBounds, "[n]"},
    {kResultAccuracy, "nnna"},
    {kSubAxisInfo, "nn"},
    {kAxisRef, "a?"},
    {kReplicaGroupMeshAxes, "aa"},
    {kMeshAxis, "an"},
    {kMesh, "ao"},
};
constexpr Kind kPortableTypes[] = {
    {kComplexType, "t"},
    {kFunctionType, "[t][t]"},
    {kRankedTensor, "[n]t"},
    {kRankedTensorWithEncoding, "a[n]t"},
    {kTuple, "[t]"},
    {kUniformQuantized, "nttnnnn"},
    {kUniformQuantizedPerAxis, "nttnnn[n][n]"},
    {kUnrankedTensor, "t"},
    {kBuffer, "[n]t"},
    {kFuture, "[t]"},
};

// As Sdy/Bytecode.cpp reads them.
constexpr Kind kShardyAttributes[] = {
    {0, "[a]"},
    {1, "nn"},
    {2, "[a][n]"},
    {3, "nn"},
    {4, "no"},
    {5, "[a]bn"},
    {6, "a[a][a]"},
    {7, "[a]"},
    {8, "[n]"},
    {9, "[a]"},
    {10, "[n][a][a][n][n][n][n]b"},
    {15, "a[a][a][a]"},
    {16, "[a]"},
};

} // namespace

llvm::StringRef fieldsOf(llvm::StringRef dialect, bool isType, std::uint64_t code) {
  using Kinds = llvm::ArrayRef<Kind>;
  const Kinds kinds =
      llvm::StringSwitch<Kinds>(dialect)
          .Case("builtin", isType ? Kinds(kBuiltinTypes) : Kinds(kBuiltinAttributes))
          .Case("sdy", isType ? Kinds() : Kinds(kShardyAttributes))
          .Case("quant", isType ? Kinds(kQuantTypes) : Kinds())
          .Case("vhlo", isType ? Kinds(kPortableTypes) : Kinds(kPortableAttributes))
          .Default({});
  for (const Kind& kind : kinds)
    if (kind.code == code)
      return kind.fields;
  return "";
}

} // namespace octavo::vhlo
