#include "octavo/Transforms/Quantize/QuantizeCaches.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Octavo/QuantizedInput.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/Quantize/ProgramState.h"
#include "octavo/Transforms/Quantize/WeightPlan.h"
#include "octavo/Transforms/Recover/CarriedParts.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/UnusedOperations.h"
#include "octavo/Transforms/Walks/CacheFlow.h"
#include "octavo/Transforms/Walks/SourceNames.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <re2/re2.h>

#include <optional>

namespace octavo::transforms {

namespace {

using format::ScaledFormat;
using mlir::func::FuncOp;

bool isNamed(const CacheRule& rule, const std::string& name) {
  llvm::StringRef wanted = rule.name;
  return wanted.consume_front("re:")
             ? re2::RE2::PartialMatch(name, re2::RE2(wanted.str(), re2::RE2::Quiet))
             : wanted == "*" || wanted == name;
}

/// Whether, in an update or a concatenation, all operands have the whole axis `axis` of the cache.
bool isWholeAt(std::int64_t axis, mlir::RankedTensorType cache, mlir::Operation* op) {
  const mlir::ValueRange operands = op->getOperands();
  return llvm::all_of(llvm::isa<stablehlo::ConcatenateOp>(op) ? operands : operands.take_front(2),
                      [&](mlir::Value each) {
                        const std::optional<std::int64_t> own = axisOfPart(each, cache, axis);
                        return own && shapeOf(each)[*own] == cache.getDimSize(axis);
                      });
}

/// A dot for which `axis` of the cache is a batch axis when it reads the cache; null if there is
/// none.
mlir::Operation* dotOfBatch(const CacheFlow& flow, mlir::RankedTensorType cache,
                            std::int64_t axis) {
  llvm::SetVector<std::pair<mlir::Value, std::int64_t>> reached;
  for (mlir::Value value : flow.values)
    if (const auto own = axisOfPart(value, cache, axis))
      reached.insert({value, *own});
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto [value, own] = reached[i];
    for (mlir::OpOperand& use : value.getUses()) {
      mlir::Operation* op = use.getOwner();
      if (auto dot = llvm::dyn_cast<stablehlo::DotGeneralOp>(op)) {
        const stablehlo::DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
        if (llvm::is_contained(use.getOperandNumber() == 0 ? numbers.getLhsBatchingDimensions()
                                                           : numbers.getRhsBatchingDimensions(),
                               own))
          return op;
      } else if (auto transpose = llvm::dyn_cast<stablehlo::TransposeOp>(op)) {
        reached.insert({op->getResult(0), llvm::find(transpose.getPermutation(), own) -
                                              transpose.getPermutation().begin()});
      } else if (auto broadcast = llvm::dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
        reached.insert({op->getResult(0), broadcast.getBroadcastDimensions()[own]});
      } else if (llvm::isa<stablehlo::ConvertOp>(op)) {
        reached.insert({op->getResult(0), own});
      }
    }
  }
  return nullptr;
}

/// The axis along which blocks lie: the last one for which both hold.
/// - Everything appended covers it whole, so that no update cuts a block.
/// - It is not a batch axis of a dot: every index of a batch axis has scales of its own.
struct BlockAxis {
  std::optional<std::int64_t> found;
  std::int64_t batch = 0;           ///< the last axis rejected as a batch axis
  mlir::Operation* dotOf = nullptr; ///< the dot with that batch axis
};

BlockAxis blockAxis(mlir::BlockArgument argument, const CacheFlow& flow) {
  const mlir::RankedTensorType cache = typeOf(argument);
  BlockAxis axis;
  for (std::int64_t each = cache.getRank(); each-- > 0;) {
    const auto isWhole = [&](mlir::Operation* update) { return isWholeAt(each, cache, update); };
    if (cache.getDimSize(each) == 1 || !llvm::all_of(flow.entries, isWhole) ||
        !llvm::all_of(flow.moves, isWhole))
      continue;
    mlir::Operation* dot = dotOfBatch(flow, cache, each);
    if (dot == nullptr) {
      axis.found = each;
      return axis;
    }
    if (axis.dotOf == nullptr) {
      axis.batch = each;
      axis.dotOf = dot;
    }
  }
  return axis;
}

/// The operand that an operation moves, or writes into; null for other operations.
mlir::Value movedBy(mlir::Operation* op) {
  return llvm::isa<stablehlo::DynamicUpdateSliceOp, stablehlo::ScatterOp, stablehlo::DynamicSliceOp,
                   stablehlo::SliceOp, stablehlo::ReshapeOp, stablehlo::TransposeOp,
                   stablehlo::BroadcastInDimOp, stablehlo::ConvertOp, stablehlo::GatherOp,
                   ir::DequantizeOp, ir::PackOp>(op)
             ? op->getOperand(0)
             : mlir::Value();
}

/// The value that `value` is a view of.
mlir::Value viewed(mlir::Value value) {
  for (;;) {
    mlir::Value from;
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      auto loop = llvm::dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp());
      from = loop ? loop->getOperand(argument.getArgNumber()) : mlir::Value();
    } else if (auto loop = value.getDefiningOp<stablehlo::WhileOp>()) {
      from = loop->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber());
    } else {
      from = movedBy(value.getDefiningOp());
    }
    if (!from)
      return value;
    value = from;
  }
}

bool isWide(mlir::Value value) {
  const mlir::Type element = mlir::getElementTypeOrSelf(value.getType());
  return element.isF32() || element.isBF16() || element.isF16();
}

/// Why an argument cannot be stored as codes; empty if it can.
std::string reasonToLeave(FuncOp function, mlir::BlockArgument argument, const CacheFlow& flow) {
  const unsigned index = argument.getArgNumber();
  if (!isWide(argument))
    return "it is " + mlir::debugString(argument.getType()) +
           "; codes are made of f32, bf16 and f16";
  const auto at = [](mlir::Operation* op) { return " at " + sourceName(op->getLoc()); };
  if (!typeOf(argument))
    return "its extents are not all known; octavo-opt --octavo-refine-shapes makes them known";
  if (elementCount(shapeOf(argument)) == 0)
    return "it has no elements";
  if (flow.scatter != nullptr)
    return "'stablehlo.scatter'" + at(flow.scatter) +
           " writes into it; append by dynamic_update_slice (jax.lax.dynamic_update_slice)";
  const std::string way = flow.inTheWay == nullptr
                              ? ""
                              : "'" + flow.inTheWay->getName().getStringRef().str() + "'" +
                                    at(flow.inTheWay) + " stands between ";
  if (flow.entries.empty() && !way.empty())
    return way +
           "it and what is appended; append first, by dynamic_update_slice into the whole of it";
  if (flow.entries.empty())
    return "no dynamic_update_slice appends to it";
  if (flow.branchingLoop != nullptr)
    return "the loop" + at(flow.branchingLoop) + " carries other values in its place";
  if (flow.results.empty() && !way.empty())
    return way + "what is appended and the result; return what dynamic_update_slice gives";
  if (flow.results.size() != 1)
    return flow.results.empty()
               ? "no result is it with what is appended; return what dynamic_update_slice gives"
               : "it is returned " + std::to_string(flow.results.size()) + " times; return it once";
  if (auto donated = function.getArgAttrOfType<mlir::IntegerAttr>(index, "tf.aliasing_output");
      donated && donated.getValue() != flow.results.front())
    return "it is donated to another result than the one that returns it";
  for (const char* sharding : {"mhlo.sharding", "sdy.sharding"})
    if (function.getArgAttr(index, sharding))
      return std::string("it is divided among processes (") + sharding +
             "); partition the program first";
  if (!flow.isReadByDot())
    return "no dot reads it";
  for (mlir::Operation* op : flow.entries)
    if (viewed(llvm::cast<stablehlo::DynamicUpdateSliceOp>(op).getUpdate()) == argument)
      return "what is written into it" + at(op) +
             " is a slice of it with something appended; append to the whole of it";
  const BlockAxis axis = blockAxis(argument, flow);
  if (!axis.found && axis.dotOf != nullptr)
    return "axis " + std::to_string(axis.batch) +
           ", the only one of more than one element that is whole in everything that is appended, "
           "is a batch of the dot" +
           at(axis.dotOf) + ", whose items would share scales; keep it wide (\"none\")";
  if (!axis.found)
    return "no axis of it, of more than one element, is whole in everything that is appended, so "
           "that blocks would be cut; append whole entries";
  return {};
}

/// For a program without caches: the first argument that looks like one, and what it lacks; empty
/// if there is none.
std::string nearestCache(llvm::ArrayRef<FuncOp> functions) {
  for (FuncOp function : functions)
    for (const mlir::BlockArgument argument : function.getArguments()) {
      if (!isWide(argument))
        continue;
      const auto [op, isAppendedTo] = nearCache(argument);
      if (op != nullptr)
        return "; '" + op->getName().getStringRef().str() + "' at " + sourceName(op->getLoc()) +
               " stands between " + ir::argumentName(function, argument.getArgNumber()) +
               (isAppendedTo ? " and what is appended: append first, to the whole of it"
                             : " and the result: append to it by dynamic_update_slice "
                               "(jax.lax.dynamic_update_slice)");
    }
  return {};
}

/// `value` in another float type.
mlir::Value converted(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                      mlir::Type element) {
  const mlir::RankedTensorType type = typeOf(value).clone(element);
  return value.getType() == type
             ? value
             : stablehlo::ConvertOp::create(builder, location, type, value).getResult();
}

/// Dequantizes a scaled tensor to `type`.
mlir::Value dequantized(mlir::OpBuilder& builder, mlir::Location location, mlir::Value scaled,
                        mlir::RankedTensorType type) {
  const mlir::Value wide =
      ir::DequantizeOp::create(builder, location, type.clone(builder.getF32Type()), scaled);
  return converted(builder, location, wide, type.getElementType());
}

/// An argument and result that can become codes and scales.
struct Cache {
  unsigned argument, result;
  CacheRecord* record;
};

/// A cache whose argument is replaced, and whose result is not yet.
struct Codes {
  mlir::BlockArgument argument, scales;
  Cache cache;
};

/// Replaces the argument by codes and scales, and quantizes what is appended.
Codes takeCodes(FuncOp function, const Cache& cache) {
  mlir::MLIRContext* context = function.getContext();
  mlir::BlockArgument argument = function.getArgument(cache.argument);
  const CacheFlow flow = cacheFlow(argument);
  CacheRecord& record = *cache.record;
  const std::int64_t axis = *blockAxis(argument, flow).found;
  const mlir::RankedTensorType type = typeOf(argument);
  numerics::QuantizeOptions options;
  options.rule = record.format->rule;
  options.nonFinite = record.nonFinite;
  const auto quantization = ir::QuantizationAttr::get(context, options);
  for (mlir::Operation* op : flow.entries) {
    auto update = llvm::cast<stablehlo::DynamicUpdateSliceOp>(op);
    const mlir::Value entry = update.getUpdate();
    mlir::OpBuilder builder(op);
    const mlir::Value quantized = ir::QuantizeOp::create(
        builder, op->getLoc(),
        scaledType(context, *record.format, shapeOf(entry), *axisOfPart(entry, type, axis)),
        converted(builder, op->getLoc(), entry, builder.getF32Type()), mlir::Value(), quantization);
    update.getUpdateMutable().assign(dequantized(builder, op->getLoc(), quantized, typeOf(entry)));
  }
  const ir::ScaledType scaled = scaledType(context, *record.format, type.getShape(), axis);
  const mlir::BlockArgument scales =
      appendState(function, record.name + ".scales", scaled.getScalesType());
  argument.setType(scaled.getElementsType());
  auto builder = mlir::OpBuilder::atBlockBegin(argument.getOwner());
  auto pack =
      ir::PackOp::create(builder, function.getLoc(), scaled, argument, scales, mlir::Value());
  argument.replaceAllUsesExcept(dequantized(builder, function.getLoc(), pack, type), pack);
  record.codes = mlir::debugString(scaled.getElementsType());
  record.scales = mlir::debugString(scaled.getScalesType());
  record.bitsBefore = type.getNumElements() * type.getElementTypeBitWidth();
  record.bitsAfter = scaled.getStoredBits();
  return {argument, scales, cache};
}

/// Marks a cache as left, with the reason.
void leave(CacheRecord& record, std::string reason) {
  record.format = nullptr;
  record.reason = std::move(reason);
  record.codes = record.scales = {};
  record.bitsBefore = record.bitsAfter = 0;
}

/// Replaces the results by codes and scales, which loops carry too. Returns false if some result is
/// still wide: these caches are marked as left, and the caller must restore the function.
bool returnCodes(FuncOp function, llvm::SmallVector<Codes> caches) {
  // Returned scales are in the order of the returned codes, as among the arguments.
  llvm::sort(caches,
             [](const Codes& a, const Codes& b) { return a.cache.result < b.cache.result; });
  mlir::Operation* end = function.getBody().front().getTerminator();
  function.setType(mlir::FunctionType::get(
      function.getContext(), function.getBody().getArgumentTypes(), function.getResultTypes()));
  carryParts(function.getBody());
  llvm::SetVector<mlir::Operation*> wide;
  {
    DequantizationTraces origins;
    llvm::SmallVector<Dequantized> results;
    for (const Codes& each : caches) {
      const DequantizationTrace origin = origins.of(end->getOperand(each.cache.result));
      if (const auto* parts = std::get_if<Dequantized>(&origin))
        results.push_back(*parts);
      else if (const auto* obstacle = std::get_if<Obstacle>(&origin))
        leave(*each.cache.record, "between it and its result '" +
                                      obstacle->op->getName().getStringRef().str() + "' at " +
                                      sourceName(obstacle->op->getLoc()) + " " + obstacle->reason);
    }
    if (results.size() != caches.size())
      return false;
    for (auto [each, parts] : llvm::zip_equal(caches, results)) {
      wide.insert(end->getOperand(each.cache.result).getDefiningOp());
      end->setOperand(each.cache.result, parts.elements);
    }
    for (auto [each, parts] : llvm::zip_equal(caches, results))
      returnState(each.scales, parts.scales);
  }
  function.setType(mlir::FunctionType::get(
      function.getContext(), function.getBody().getArgumentTypes(), end->getOperandTypes()));
  for (const Codes& each : caches) {
    // Scales are donated if the codes are.
    const unsigned index = each.argument.getArgNumber(), scalesIndex = each.scales.getArgNumber();
    if (!function.getArgAttr(index, "tf.aliasing_output"))
      function.removeArgAttr(scalesIndex, "tf.aliasing_output");
    if (mlir::Attribute donor = function.getArgAttr(index, "jax.buffer_donor"))
      function.setArgAttr(scalesIndex, "jax.buffer_donor", donor);
  }
  eraseUnused(std::move(wide));
  return true;
}

/// Replaces the caches of a function by codes and scales, as arguments and as results.
void store(FuncOp function, std::vector<Cache> caches) {
  while (!caches.empty()) {
    FuncOp before = function.clone();
    const auto taken =
        llvm::map_to_vector(caches, [&](const Cache& each) { return takeCodes(function, each); });
    if (returnCodes(function, taken)) {
      before.erase();
      return;
    }
    function->getBlock()->getOperations().insert(function->getIterator(), before);
    function.erase();
    function = before;
    llvm::erase_if(caches, [](const Cache& each) { return each.record->format == nullptr; });
  }
}

} // namespace

llvm::Error checkCaches(llvm::ArrayRef<CacheRule> rules) {
  for (const CacheRule& rule : rules) {
    llvm::StringRef name = rule.name;
    if (name.consume_front("re:"))
      if (const re2::RE2 pattern(name.str(), re2::RE2::Quiet); !pattern.ok())
        return llvm::createStringError(rule.where + ": \"" + name +
                                       "\" is not a regular expression: " + pattern.error());
    const ScaledFormat* format = rule.format;
    if (format == nullptr)
      continue;
    const std::string what =
        format->hasScaleOfTensor()     ? "a scale of the whole tensor, which what is "
                                         "appended would change"
        : format->across != 1          ? "blocks of several entries, which an entry would "
                                         "cut"
        : format->element->isInteger() ? "integer elements, which no state has"
                                       : "";
    if (!what.empty())
      return llvm::createStringError(
          rule.where + ": " + std::string(format->name) + " has " + what +
          "; formats of MX with elements of floats, fp8_row and fp8_group will do");
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<CacheRecord>> quantizeCaches(mlir::ModuleOp module,
                                                        llvm::ArrayRef<CacheRule> rules) {
  std::vector<FuncOp> functions;
  for (auto function : module.getOps<FuncOp>())
    if (function.isPublic() && !function.isExternal() &&
        llvm::hasSingleElement(function.getBody()) &&
        mlir::SymbolTable::symbolKnownUseEmpty(function.getOperation(), module))
      functions.push_back(function);
  std::vector<std::string> names;
  for (FuncOp function : functions)
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      names.push_back(ir::argumentName(function, i));
  for (const CacheRule& rule : rules) {
    if (rule.name == "*" ||
        llvm::any_of(names, [&](const std::string& name) { return isNamed(rule, name); }))
      continue;
    std::string message = rule.where + ": \"" + rule.name + "\" is the name of no argument";
    if (const std::vector<std::string> near = base::nearNames(rule.name, names); !near.empty())
      message += "; near it: " + llvm::join(near, ", ");
    return llvm::createStringError(message);
  }

  std::vector<CacheRecord> records;
  for (FuncOp function : functions) {
    std::vector<CacheRecord> found;
    std::vector<std::pair<unsigned, unsigned>> places; // of arguments, of results
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      const mlir::BlockArgument argument = function.getArgument(i);
      CacheRecord record{ir::argumentName(function, i), function.getName().str(),
                         argument.getLoc()};
      const auto* rule =
          llvm::find_if(rules, [&](const CacheRule& each) { return isNamed(each, record.name); });
      const CacheFlow flow = isWide(argument) ? cacheFlow(argument) : CacheFlow();
      const bool isCache =
          (!flow.entries.empty() || flow.scatter != nullptr || flow.inTheWay != nullptr) &&
          flow.isReadByDot();
      if (!isCache && (rule == rules.end() || rule->name != record.name))
        continue;
      record.reason = reasonToLeave(function, argument, flow);
      record.isKept = rule == rules.end() || rule->format == nullptr;
      if (record.isKept)
        record.reason =
            rule == rules.end() ? "no name of the recipe is its" : "the recipe keeps it";
      if (record.reason.empty()) {
        record.format = rule->format;
        record.nonFinite = rule->nonFinite;
      }
      places.emplace_back(i, record.reason.empty() ? flow.results.front() : 0);
      found.push_back(std::move(record));
    }
    std::vector<Cache> caches;
    for (auto [record, place] : llvm::zip_equal(found, places))
      if (record.format != nullptr)
        caches.push_back({place.first, place.second, &record});
    store(function, std::move(caches));
    llvm::move(found, std::back_inserter(records));
  }
  if (records.empty())
    return llvm::createStringError(
        rules.front().where +
        ": the program has no cache: no argument of f32, bf16 or f16 that "
        "dynamic_update_slice appends to and a dot reads" +
        nearestCache(functions));
  return records;
}

const CacheRecord* cacheBehind(mlir::Value value, llvm::ArrayRef<CacheRecord> caches) {
  const auto argument = llvm::dyn_cast<mlir::BlockArgument>(viewed(value));
  auto function = argument ? llvm::dyn_cast<FuncOp>(argument.getOwner()->getParentOp()) : FuncOp();
  if (!function)
    return nullptr;
  const std::string name = ir::argumentName(function, argument.getArgNumber());
  const auto* found = llvm::find_if(caches, [&](const CacheRecord& cache) {
    return cache.function == function.getName() && cache.name == name;
  });
  return found == caches.end() ? nullptr : found;
}

} // namespace octavo::transforms
