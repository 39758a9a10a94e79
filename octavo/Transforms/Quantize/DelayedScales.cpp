#include "octavo/Transforms/Quantize/DelayedScales.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Transforms/Quantize/ProgramState.h"
#include "octavo/Transforms/Quantize/RandomState.h"
#include "octavo/Transforms/TakenRegions.h"
#include "octavo/Transforms/Walks/TripCount.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <bit>
#include <cmath>
#include <limits>
#include <map>

namespace octavo::transforms {

namespace {

using mlir::RankedTensorType;

/// Computes the codes of values, the amax of the finite ones, and the dividend whose quotient by
/// the scale is the inverse scale. NaN and infinities become codes of NaN and infinities: a loss
/// scale that is too large shows in the gradients.
/// - {0}: type of the values; {1}: of the codes; {2}: all axes
/// - {3}: an argument for the random bits; {4}: their use in the conversion; both empty if not
///   random
/// - {5}: {0} with i1 elements; {6}: largest value of the format; {7}: the dividend
constexpr const char* kQuantize = R"(
func.func private @octavo.quantize_delayed(%x: {0}, %scale: tensor<f32>{3})
    -> ({1}, tensor<f32>, tensor<f32>) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %inf = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %magnitudes = stablehlo.abs %x : {0}
  %infinities = stablehlo.broadcast_in_dim %inf, dims = [] : (tensor<f32>) -> {0}
  %isFinite = stablehlo.compare LT, %magnitudes, %infinities, FLOAT : ({0}, {0}) -> {5}
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> {0}
  %counted = stablehlo.select %isFinite, %magnitudes, %zeros : {5}, {0}
  %amax = stablehlo.reduce(%counted init: %zero) applies stablehlo.maximum across dimensions = [{2}]
    : ({0}, tensor<f32>) -> tensor<f32>
  %everywhere = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> {0}
  %scaled = stablehlo.multiply %x, %everywhere : {0}
  %most = stablehlo.constant dense<{6}> : tensor<f32>
  %least = stablehlo.negate %most : tensor<f32>
  %limited = stablehlo.clamp %least, %scaled, %most : (tensor<f32>, {0}, tensor<f32>) -> {0}
  %kept = stablehlo.select %isFinite, %limited, %x : {5}, {0}
  %codes = octavo.convert %kept{4} : {0} -> {1}
{7}
  return %codes, %amax, %dividend : {1}, tensor<f32>, tensor<f32>
})";
constexpr const char* kOne = R"(
  %dividend = stablehlo.constant dense<1.0> : tensor<f32>)";

/// The dividend for formats without NaN: NaN if a value is not finite. {0}: type of the values;
/// {1}: all axes.
constexpr const char* kNanOrOne = R"(
  %largest = stablehlo.reduce(%magnitudes init: %zero) applies stablehlo.maximum across dimensions = [{1}]
    : ({0}, tensor<f32>) -> tensor<f32>
  %areFinite = stablehlo.compare LT, %largest, %inf, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %dividend = stablehlo.select %areFinite, %one, %nan : tensor<i1>, tensor<f32>)";

/// Computes the next scales and histories. {0}: number of tensors; {1}: slots of a history; {2}:
/// largest value of each tensor's format times the margin; {3}: how the history rolls; {4}: largest
/// f32.
constexpr const char* kUpdate = R"(
func.func private @octavo.update_scales(%scales: tensor<{0}xf32>, %before: tensor<{0}x{1}xf32>,
    %amaxes: tensor<{0}x1xf32>) -> (tensor<{0}xf32>, tensor<{0}x{1}xf32>) {{
  %rest = stablehlo.slice %before [0:{0}, 1:{1}] : (tensor<{0}x{1}xf32>) -> tensor<{0}x{5}xf32>
  %history = stablehlo.concatenate %amaxes, %rest, dim = 1
    : (tensor<{0}x1xf32>, tensor<{0}x{5}xf32>) -> tensor<{0}x{1}xf32>
  %isNumber = stablehlo.compare EQ, %history, %history, FLOAT
    : (tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>) -> tensor<{0}x{1}xi1>
  %none = stablehlo.constant dense<0.0> : tensor<{0}x{1}xf32>
  %counted = stablehlo.select %isNumber, %history, %none : tensor<{0}x{1}xi1>, tensor<{0}x{1}xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %amax = stablehlo.reduce(%counted init: %zero) applies stablehlo.maximum across dimensions = [1]
    : (tensor<{0}x{1}xf32>, tensor<f32>) -> tensor<{0}xf32>
  %most = stablehlo.constant dense<[{2}]> : tensor<{0}xf32>
  %quotient = stablehlo.divide %most, %amax : tensor<{0}xf32>
  %largest = stablehlo.constant dense<{4}> : tensor<{0}xf32>
  %limited = stablehlo.minimum %quotient, %largest : tensor<{0}xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<{0}xf32>
  %isPositive = stablehlo.compare GT, %amax, %zeros, FLOAT
    : (tensor<{0}xf32>, tensor<{0}xf32>) -> tensor<{0}xi1>
  %isFinite = stablehlo.compare LE, %amax, %largest, FLOAT
    : (tensor<{0}xf32>, tensor<{0}xf32>) -> tensor<{0}xi1>
  %decides = stablehlo.and %isPositive, %isFinite : tensor<{0}xi1>
  %next = stablehlo.select %decides, %limited, %scales : tensor<{0}xi1>, tensor<{0}xf32>
  %empty = stablehlo.constant dense<0.0> : tensor<{0}x1xf32>
{3}
  return %next, %rolled : tensor<{0}xf32>, tensor<{0}x{1}xf32>
})";

/// Rolls a history (rule F2). {0}: number of tensors; {1}: slots; {2}: slots between the first and
/// the last.
constexpr const char* kRoll = R"(
  %later = stablehlo.slice %history [0:{0}, 2:{1}] : (tensor<{0}x{1}xf32>) -> tensor<{0}x{2}xf32>
  %rolled = stablehlo.concatenate %empty, %later, %amaxes, dim = 1
    : (tensor<{0}x1xf32>, tensor<{0}x{2}xf32>, tensor<{0}x1xf32>) -> tensor<{0}x{1}xf32>)";
constexpr const char* kRollOne = R"(
  %rolled = stablehlo.add %empty, %empty : tensor<{0}x1xf32>)";

/// An f32 as the hexadecimal literal that MLIR reads without rounding.
std::string bitsText(float value) {
  return "0x" + llvm::utohexstr(std::bit_cast<std::uint32_t>(value), /*LowerCase=*/false, 8);
}

/// Parses a function and inserts it into the module under a free name.
mlir::func::FuncOp insert(mlir::SymbolTable& symbols, const std::string& text) {
  mlir::OwningOpRef<mlir::ModuleOp> parsed =
      mlir::parseSourceString<mlir::ModuleOp>(text, symbols.getOp()->getContext());
  auto function = *parsed->getOps<mlir::func::FuncOp>().begin();
  function->remove();
  symbols.insert(function);
  return function;
}

/// Calls a function parsed from `text`. `symbols` are those of the module, collected at the first
/// call.
mlir::func::CallOp call(mlir::OpBuilder& builder, std::optional<mlir::SymbolTable>& symbols,
                        mlir::Location at, const std::string& text, mlir::ValueRange operands) {
  if (!symbols)
    symbols.emplace(builder.getInsertionBlock()->getParentOp()->getParentOfType<mlir::ModuleOp>());
  return mlir::func::CallOp::create(builder, at, insert(*symbols, text), operands);
}

using mlir::func::FuncOp;

mlir::Value zeros(mlir::OpBuilder& builder, mlir::Location at, std::int64_t count) {
  const auto type = RankedTensorType::get({count}, builder.getF32Type());
  return stablehlo::ConstantOp::create(
      builder, at, mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>{0.0f}));
}

/// `count` elements of a vector, from `first` on.
mlir::Value sliced(mlir::OpBuilder& builder, mlir::Location at, mlir::Value numbers,
                   std::int64_t first, std::int64_t count) {
  const auto type = llvm::cast<RankedTensorType>(numbers.getType());
  if (type.getDimSize(0) == count)
    return numbers;
  return stablehlo::SliceOp::create(
      builder, at, type.clone({count}), numbers, builder.getDenseI64ArrayAttr({first}),
      builder.getDenseI64ArrayAttr({first + count}), builder.getDenseI64ArrayAttr({1}));
}

mlir::Value joined(mlir::OpBuilder& builder, mlir::Location at, llvm::ArrayRef<mlir::Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  std::int64_t count = 0;
  for (mlir::Value part : parts)
    count += llvm::cast<RankedTensorType>(part.getType()).getDimSize(0);
  return stablehlo::ConcatenateOp::create(builder, at,
                                          RankedTensorType::get({count}, builder.getF32Type()),
                                          parts, builder.getI64IntegerAttr(0));
}

/// Distributes scales to the tensors of a program, and collects their amaxes.
class Carrying {
public:
  Carrying(mlir::ModuleOp module, llvm::ArrayRef<DelayedScales::Tensor> all) : program(module) {
    for (const auto& [number, tensor] : llvm::enumerate(all)) {
      tensors[tensor.scale] = &tensor;
      mark(tensor.scale, number);
    }
  }

  const llvm::SetVector<mlir::Operation*>& entries() const { return publicFunctions; }

  /// The largest values of the formats of a block's tensors, one for each scale.
  const std::vector<float>& largestOf(mlir::Block& block) {
    const auto [found, isNew] = largest.try_emplace(&block);
    if (!isNew)
      return found->second;
    std::vector<float> result;
    for (mlir::Operation* op : itemsOf(block))
      llvm::append_range(result, largestOf(*op));
    return largest[&block] = std::move(result);
  }

  /// Passes `scales` to the tensors of a block; returns their amaxes at its end.
  mlir::Value through(mlir::Block& block, mlir::Value scales) {
    llvm::SmallVector<mlir::Value> amaxes;
    std::int64_t first = 0;
    for (mlir::Operation* op : itemsOf(block)) {
      const auto count = static_cast<std::int64_t>(largestOf(*op).size());
      numbers.erase(op);
      if (count == 0) // a loop with no iterations
        continue;
      mlir::OpBuilder builder(op);
      const mlir::Value own = sliced(builder, op->getLoc(), scales, first, count);
      amaxes.push_back(tensors.contains(op) ? ofTensor(builder, op, own) : through(*op, own));
      first += count;
    }
    mlir::OpBuilder end(block.getTerminator());
    return joined(end, end.getInsertionPoint()->getLoc(), amaxes);
  }

private:
  /// Records `number` as that of the first tensor within `op` and all operations around it.
  void mark(mlir::Operation* op, std::size_t number) {
    if (!numbers.try_emplace(op, number).second)
      return;
    auto function = llvm::dyn_cast<FuncOp>(op);
    if (!function)
      return mark(op->getParentOp(), number);
    if (function.isPublic())
      publicFunctions.insert(function);
    else
      for (mlir::func::CallOp call : program.callsOf(function))
        mark(call, number);
  }

  /// The tensors of a block and the operations that contain some, in the order of the tensors.
  llvm::SmallVector<mlir::Operation*> itemsOf(mlir::Block& block) const {
    std::multimap<std::size_t, mlir::Operation*> items;
    for (mlir::Operation& op : block)
      if (const auto number = numbers.find(&op); number != numbers.end())
        items.emplace(number->second, &op);
    return llvm::to_vector(llvm::make_second_range(items));
  }

  std::vector<float> largestOf(mlir::Operation& op) {
    if (const DelayedScales::Tensor* tensor = tensors.lookup(&op))
      return {tensor->largest};
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op))
      return largestOf(program.called(call).getBody().front());
    std::vector<float> result;
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op)) {
      for (std::int64_t round = 0; round < *roundsOf(loop); ++round)
        llvm::append_range(result, largestOf(loop.getBody().front()));
      return result;
    }
    for (mlir::Region& region : op.getRegions())
      llvm::append_range(result, largestOf(region.front()));
    return result;
  }

  mlir::Value ofTensor(mlir::OpBuilder& builder, mlir::Operation* place, mlir::Value own) {
    const DelayedScales::Tensor& tensor = *tensors.lookup(place);
    const mlir::Location at = place->getLoc();
    place->getResult(0).replaceAllUsesWith(
        stablehlo::ReshapeOp::create(builder, at, tensor.amax.getType(), own));
    tensors.erase(place);
    place->erase();
    builder.setInsertionPointAfterValue(tensor.amax);
    return stablehlo::ReshapeOp::create(builder, at, own.getType(), tensor.amax);
  }

  /// Passes `scales` to an operation that contains tensors; returns their amaxes.
  mlir::Value through(mlir::Operation& op, mlir::Value scales) {
    const mlir::Type type = scales.getType();
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
      return throughRounds(loop, scales);
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op)) {
      FuncOp function = program.called(call);
      if (done.insert(function).second)
        extend(function, type,
               [&](mlir::Block& block, mlir::Value own) { return through(block, own); });
      return extended(&op, scales, type)->getResults().back();
    }
    throughBranches(op, scales);
    return extended(&op, {}, type)->getResults().back();
  }

  /// Branches that are not taken give amaxes of 0, which have no effect (F3).
  void throughBranches(mlir::Operation& op, mlir::Value scales) {
    const auto count = llvm::cast<RankedTensorType>(scales.getType()).getDimSize(0);
    std::int64_t first = 0;
    for (mlir::Region& region : op.getRegions()) {
      mlir::Block& block = region.front();
      const auto own = static_cast<std::int64_t>(largestOf(block).size());
      mlir::OpBuilder before(&op), end(block.getTerminator());
      llvm::SmallVector<mlir::Value> parts;
      if (first > 0)
        parts.push_back(zeros(end, op.getLoc(), first));
      if (own > 0)
        parts.push_back(through(block, sliced(before, op.getLoc(), scales, first, own)));
      first += own;
      if (first < count)
        parts.push_back(zeros(end, op.getLoc(), count - first));
      handOn(block, joined(end, op.getLoc(), parts));
    }
  }

  /// Each iteration takes the next slice of the scales.
  mlir::Value throughRounds(stablehlo::WhileOp loop, mlir::Value scales) {
    const mlir::Location at = loop.getLoc();
    mlir::OpBuilder before(loop);
    const auto type = llvm::cast<RankedTensorType>(scales.getType());
    const auto placeType = RankedTensorType::get({}, before.getI64Type());
    const auto number = [&](mlir::OpBuilder& builder, std::int64_t value) {
      return stablehlo::ConstantOp::create(
          builder, at,
          mlir::DenseElementsAttr::get(placeType, llvm::ArrayRef<std::int64_t>{value}));
    };
    mlir::Block& body = loop.getBody().front();
    const auto count = static_cast<std::int64_t>(largestOf(body).size());
    loop.getCond().addArgument(type, at);
    loop.getCond().addArgument(placeType, at);
    const mlir::Value amaxes = body.addArgument(type, at), place = body.addArgument(placeType, at);

    mlir::OpBuilder begin = mlir::OpBuilder::atBlockBegin(&body);
    const mlir::Value own = stablehlo::DynamicSliceOp::create(
        begin, at, type.clone({count}), scales, place, begin.getDenseI64ArrayAttr({count}));
    const mlir::Value found = through(body, own);
    mlir::OpBuilder end(body.getTerminator());
    handOn(body, stablehlo::DynamicUpdateSliceOp::create(end, at, type, amaxes, found, place));
    handOn(body, stablehlo::AddOp::create(end, at, placeType, place, number(end, count)));
    mlir::Operation* made = extended(
        loop, {zeros(before, at, type.getDimSize(0)), number(before, 0)}, {type, placeType});
    return made->getResult(made->getNumResults() - 2);
  }

  ProgramCalls program;
  /// keys: their placeholders
  llvm::DenseMap<mlir::Operation*, const DelayedScales::Tensor*> tensors;
  llvm::DenseMap<mlir::Operation*, std::size_t> numbers;
  llvm::SetVector<mlir::Operation*> publicFunctions;
  std::map<mlir::Block*, std::vector<float>> largest;
  llvm::DenseSet<mlir::Operation*> done;
};

/// The most iterations; a program has a scale for each.
constexpr std::int64_t kMostRounds = 65536;

} // namespace

RoundsReach::RoundsReach(const ProgramCalls& program) {
  for (FuncOp function : llvm::reverse(program.calleesFirst())) {
    Rounds rounds{.reason = program.whyTooDeep(function)};
    for (mlir::func::CallOp call : program.callsOf(function)) {
      const Rounds around = find(call);
      rounds.count = std::max(rounds.count, around.count);
      if (rounds.reason.empty())
        rounds.reason = around.reason;
    }
    functions[function] = std::move(rounds);
  }
}

RoundsReach::Rounds RoundsReach::find(mlir::Operation* op) const {
  Rounds rounds;
  const auto multiply = [&](std::int64_t count) {
    if (count > kMostRounds / rounds.count)
      rounds.reason = "each round has a scale of its own, and it is within loops of more than " +
                      std::to_string(kMostRounds) + " rounds";
    else
      rounds.count *= std::max<std::int64_t>(count, 1);
    return rounds.reason.empty();
  };
  for (mlir::Operation* around = op->getParentOp(); around != nullptr;
       around = around->getParentOp()) {
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(around)) {
      const std::optional<std::int64_t> own = roundsOf(loop);
      if (!own)
        rounds.reason =
            "each round has a scale of its own, and it is within a loop of which the number of "
            "rounds is not known; count up to a constant, as jax.lax.scan does";
      if (!own || !multiply(*own))
        return rounds;
    } else if (const auto found = functions.find(around); found != functions.end()) {
      rounds.reason = found->second.reason;
      if (rounds.reason.empty())
        multiply(found->second.count);
      return rounds;
    }
  }
  return rounds;
}

DelayedScales::Codes DelayedScales::quantize(mlir::Value value, const format::ElementFormat& format,
                                             const DelayedScaling& scaling, mlir::Value random) {
  mlir::OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(random ? random : value);
  const mlir::Location at = value.getLoc();
  history = scaling.history;

  // A placeholder: finish() knows which scale it is.
  const auto scalar = RankedTensorType::get({}, builder.getF32Type());
  const mlir::Value scale = stablehlo::ConstantOp::create(
      builder, at, mlir::DenseElementsAttr::get(scalar, llvm::ArrayRef<float>{1.0f}));
  auto type = llvm::cast<RankedTensorType>(value.getType()).clone(builder.getF32Type());
  if (value.getType() != type)
    value = stablehlo::ConvertOp::create(builder, at, type, value);
  const auto codes = type.clone(mlirType(builder.getContext(), format));
  const auto axes = llvm::map_range(llvm::seq<std::int64_t>(0, type.getRank()),
                                    [](std::int64_t axis) { return std::to_string(axis); });
  const std::string axesText = llvm::join(axes, ", "), typeText = mlir::debugString(type);
  const std::string bits = random ? mlir::debugString(random.getType()) : "";
  const auto largest = static_cast<float>(numerics::maxValue(format));
  const std::string dividendText =
      format.hasNan() ? std::string(kOne) : llvm::formatv(kNanOrOne, typeText, axesText).str();
  llvm::SmallVector<mlir::Value> operands = {value, scale};
  if (random)
    operands.push_back(random);
  auto quantized =
      call(builder, symbols, at,
           llvm::formatv(kQuantize, typeText, mlir::debugString(codes), axesText,
                         random ? ", %bits: " + bits : "",
                         random ? " random(%bits : " + bits + "), rounding = stochastic" : "",
                         mlir::debugString(type.clone(builder.getI1Type())), bitsText(largest),
                         dividendText)
               .str(),
           operands);
  tensors.push_back(
      {scale.getDefiningOp(), quantized.getResult(1), std::ldexp(largest, -scaling.margin)});
  mlir::Value dividend = quantized.getResult(2);
  if (format.hasNan()) // the inverse then does not depend on the values
    dividend = stablehlo::ConstantOp::create(
        builder, at, mlir::DenseElementsAttr::get(scalar, llvm::ArrayRef<float>{1.0f}));
  return {quantized.getResult(0), stablehlo::DivOp::create(builder, at, scalar, dividend, scale)};
}

llvm::SmallVector<DelayedScales::OfFunction> DelayedScales::finish() {
  if (tensors.empty())
    return {};
  Carrying carrying(tensors.front().scale->getParentOfType<mlir::ModuleOp>(), tensors);
  llvm::SmallVector<OfFunction> result;
  for (mlir::Operation* entry : carrying.entries()) {
    auto function = llvm::cast<FuncOp>(entry);
    mlir::Block& body = function.getBody().front();
    const std::vector<float> largest = carrying.largestOf(body);
    const auto count = static_cast<std::int64_t>(largest.size());
    if (count == 0)
      continue;
    mlir::Builder types(function.getContext());
    const auto shape = [&](llvm::ArrayRef<std::int64_t> extents) {
      return RankedTensorType::get(extents, types.getF32Type());
    };
    const mlir::BlockArgument scales = appendState(function, "octavo.scales", shape({count}));
    const mlir::BlockArgument histories =
        appendState(function, "octavo.histories", shape({count, history}));
    const mlir::Value amaxes = carrying.through(body, scales);

    mlir::OpBuilder builder(body.getTerminator());
    const mlir::Location at = function.getLoc();
    const mlir::Value found = stablehlo::ReshapeOp::create(builder, at, shape({count, 1}), amaxes);
    const auto most = llvm::map_range(largest, bitsText);
    const std::string roll = llvm::formatv(history > 1 ? kRoll : kRollOne, count, history,
                                           std::max<std::int64_t>(history - 2, 0));
    auto updated = call(builder, symbols, at,
                        llvm::formatv(kUpdate, count, history, llvm::join(most, ", "), roll,
                                      bitsText(std::numeric_limits<float>::max()), history - 1)
                            .str(),
                        {scales, histories, found});
    returnState(scales, updated.getResult(0));
    returnState(histories, updated.getResult(1));
    result.push_back({function, count, history});
  }
  return result;
}

} // namespace octavo::transforms
