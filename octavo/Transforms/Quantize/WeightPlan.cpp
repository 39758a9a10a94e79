#include "octavo/Transforms/Quantize/WeightPlan.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Interpreter/StableHLO/Constants.h"
#include "octavo/Interpreter/Tensor/Elements.h"
#include "octavo/Numerics/ColumnExponents.h"
#include "octavo/Program/Values/RefusedInput.h"
#include "octavo/Transforms/Quantize/MovedWeights.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/SourceNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <algorithm>
#include <fmt/format.h>
#include <tl/expected.hpp>

namespace octavo::transforms {

namespace {

/// A user of a root: a side of a dot, or a call of a private function whose argument becomes
/// scaled.
struct Taker {
  const DotSide* side; ///< for a call: one of the sides that the argument reaches
  mlir::Operation* user;
  unsigned index; ///< operand number in `user`
  llvm::SmallVector<mlir::Operation*> movement;
  /// For a call: the type of the argument, and the axis of its columns.
  ir::ScaledType argument = {};
  std::int64_t axis = 0;
};

/// All users of one root, and the data movement between the root and them.
struct Takers {
  std::vector<Taker> all;
  llvm::SmallPtrSet<mlir::Operation*, 8> movement;
  llvm::DenseSet<std::pair<mlir::Operation*, unsigned>> operands; ///< operands of users

  const DotSide& first() const { return *all.front().side; }
};

/// How a user uses a root, and the type of the root that this needs.
struct Mapped {
  AheadSide side;
  ir::ScaledType root;
};

/// A side that is at most a transpose of the root; nullopt if its movement is more than that.
std::optional<AheadSide> asItIs(mlir::Value root, const DotSide& side) {
  const std::optional<PermutedRoot> permuted = permutedRoot(side.trace, side.type().getRank());
  if (side.contracting.size() != 1 || !permuted)
    return std::nullopt;
  const auto toRoot = [&](llvm::ArrayRef<std::int64_t> axes) {
    return llvm::map_to_vector(axes, [&](std::int64_t i) { return permuted->axes[i]; });
  };
  // The free axes must keep their order, since the result has them in the order of the operand's.
  if (!llvm::is_sorted(toRoot(side.freeAxes())))
    return std::nullopt;
  return AheadSide{root, toRoot(side.batching), toRoot(side.contracting)};
}

/// The reason for a convolution whose blocks span several places of its windows, and the block
/// sizes that would not.
std::string reasonOfPlaces(const DotSide& side, std::int64_t block) {
  const std::string_view row = side.format->rowName();
  std::string reason =
      fmt::format("blocks of {} go over places of its convolution's windows, which have {} "
                  "features each",
                  block, *side.features);
  const std::string fitting = fmt::format("{}:{}", row, *side.features & -*side.features);
  if (format::findScaledFormat(fitting))
    reason += fmt::format("; blocks of {} would not", fitting);
  return reason;
}

/// How a user uses a root, or the reason that the root cannot be quantized for it.
tl::expected<Mapped, std::string> mapToRoot(mlir::Value root, const Taker& taker) {
  const auto moved = [&](AheadSide side,
                         ir::ScaledType apart) -> tl::expected<Mapped, std::string> {
    if (taker.side->exponents)
      return tl::make_unexpected("it is moved, and powers of two to its columns");
    return typeBefore(taker.movement, apart).map([&](ir::ScaledType type) {
      return Mapped{std::move(side), type};
    });
  };
  if (taker.argument) {
    AheadSide side{root, {}, {taker.axis}};
    if (taker.movement.empty())
      return Mapped{side, taker.argument};
    side.moved = taker.argument;
    side.movement = taker.movement;
    return moved(std::move(side), taker.argument);
  }
  const DotSide& side = *taker.side;
  const auto shape = llvm::cast<mlir::RankedTensorType>(root.getType()).getShape();
  if (std::optional<AheadSide> own = asItIs(root, side)) {
    const std::int64_t axis = own->contracting.front();
    return Mapped{std::move(*own), scaledType(root.getContext(), *side.format, shape, axis)};
  }
  if (!side.type().hasStaticShape())
    return tl::make_unexpected("its extents are not known before the program runs");
  const MergedAxes merged = side.merged();
  AheadSide taken{root,
                  merged.batching,
                  {merged.contracting},
                  scaledType(root.getContext(), *side.format, merged.shape, merged.contracting),
                  taker.movement};
  tl::expected<Mapped, std::string> mapped =
      side.contracting.size() == 1
          ? moved(taken, taken.moved)
          : typeBefore(merged, side.type().getShape(), taken.moved)
                .and_then([&](ir::ScaledType apart) { return moved(taken, apart); });
  const std::int64_t block = taken.moved.getBlock()[static_cast<std::size_t>(merged.contracting)];
  if (!mapped && side.features && *side.features % block != 0)
    return tl::make_unexpected(reasonOfPlaces(side, block));
  return mapped;
}

/// Why a value cannot become scaled: another use of it, or of what is moved from it; empty if it
/// can.
std::string reasonOfUse(mlir::Value value, const Takers& takers) {
  llvm::SetVector<mlir::Value> moved;
  moved.insert(value);
  for (std::size_t i = 0; i < moved.size(); ++i)
    for (mlir::OpOperand& use : moved[i].getUses()) {
      mlir::Operation* user = use.getOwner();
      if (takers.movement.contains(user))
        moved.insert(user->getResult(user->getNumResults() > 1 ? use.getOperandNumber() : 0));
      else if (!takers.operands.contains({user, use.getOperandNumber()}))
        return "it is used by " + user->getName().getStringRef().str() + " as well" +
               (llvm::isa<stablehlo::DotGeneralOp>(user) ? ", in a dot that is left" : "");
    }
  return {};
}

/// The depth of the calls below each function; nullopt for functions that are recursive or call a
/// recursive one.
class CallDepths {
public:
  explicit CallDepths(const ProgramCalls& program) {
    for (mlir::func::FuncOp function : program.calleesFirst()) {
      if (program.reachesItself(function))
        continue;
      std::optional<unsigned> depth = 0;
      function.walk([&](mlir::func::CallOp call) {
        mlir::func::FuncOp called = program.called(call);
        const std::optional<unsigned> below = called ? of(called) : 0;
        depth = depth && below ? std::optional(std::max(*depth, *below + 1)) : std::nullopt;
      });
      if (depth)
        depths[function] = *depth;
    }
  }

  std::optional<unsigned> of(mlir::func::FuncOp function) const {
    const auto found = depths.find(function);
    return found == depths.end() ? std::nullopt : std::optional(found->second);
  }

private:
  llvm::DenseMap<mlir::Operation*, unsigned> depths;
};

/// Why an argument cannot have a scaled type; empty if it can.
std::string reasonOfArgument(mlir::BlockArgument argument, const Takers& takers,
                             const ProgramCalls& program, const CallDepths& depths) {
  mlir::Operation* owner = argument.getOwner()->getParentOp();
  auto function = llvm::dyn_cast<mlir::func::FuncOp>(owner);
  if (!function)
    return "it is an argument of " + owner->getName().getStringRef().str();
  const std::string name = "@" + function.getName().str();
  if (function.isPrivate() && (program.callsOf(function).empty() || !depths.of(function)))
    return "it is an argument of " + name +
           ", which is private and not only called, or calls itself";
  if (function.isPublic() && program.isNamed(function))
    return "it is an argument of " + name + ", which the program itself calls";
  return reasonOfUse(argument, takers);
}

/// Whether the values of a constant root are in the program rather than in a file beside it.
bool hasValues(stablehlo::ConstantOp root) {
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(root.getValue()))
    return resource.getRawHandle().getBlob() != nullptr;
  return llvm::isa<mlir::DenseElementsAttr>(root.getValue());
}

bool isWide(mlir::Value root) {
  const mlir::Type element = mlir::getElementTypeOrSelf(root.getType());
  return element.isF32() || element.isBF16() || element.isF16();
}

/// Whether the sides, which have one type, need different quantizations.
bool haveSeveralSettings(const Takers& takers, ir::ScaledType type) {
  const ir::QuantizationAttr first = DotChoice::quantization(takers.first(), type);
  return llvm::any_of(takers.all, [&](const Taker& taker) {
    return DotChoice::quantization(*taker.side, type) != first;
  });
}

/// Whether the sides need their columns multiplied by different powers of two, or along different
/// axes.
bool haveSeveralExponents(const Takers& takers, llvm::ArrayRef<AheadSide> sides) {
  const DotSide& first = takers.first();
  return llvm::any_of(llvm::zip_equal(takers.all, sides), [&](const auto& each) {
    const auto& [taker, mapped] = each;
    const DotSide* side = taker.side;
    if (!side->exponents || !first.exponents)
      return side->exponents != first.exponents;
    return *side->exponents != *first.exponents ||
           mapped.contracting.front() != sides.front().contracting.front();
  });
}

/// The values in f32, their columns multiplied by 2^exponents.
numerics::Tensor withColumnsMultiplied(const numerics::Tensor& values, std::int64_t axis,
                                       const ColumnExponents& exponents) {
  numerics::Tensor result = numerics::Tensor::zeros(format::element("f32"), values.shape);
  llvm::copy(interpreter::decodeToF32(values), result.as<float>().begin());
  numerics::multiplyColumns(result.as<float>(), values.shape, static_cast<std::size_t>(axis),
                            exponents);
  return result;
}

/// Why a root is not quantized ahead, or "", with the `sides` and the `type` that it needs.
std::string decide(mlir::Value root, const Takers& takers, const ProgramCalls& program,
                   const CallDepths& depths, std::vector<AheadSide>& sides, ir::ScaledType& type) {
  if (!isWide(root))
    return "it is not stored as f32, bf16 or f16";
  if (!llvm::cast<mlir::RankedTensorType>(root.getType()).hasStaticShape())
    return "its extents are not known before the program runs";
  if (llvm::any_of(takers.all, [](const Taker& taker) { return taker.side->settings->delayed; }))
    return "its scale comes from earlier steps";
  const auto takesOther = [&](const Taker& taker) {
    return taker.side->format != takers.first().format;
  };
  if (llvm::any_of(takers.all, takesOther))
    return "its dots need different formats";
  for (const Taker& taker : takers.all) {
    tl::expected<Mapped, std::string> mapped = mapToRoot(root, taker);
    if (!mapped)
      return std::move(mapped.error());
    if (type && type != mapped->root)
      return "its dots need different blocks";
    type = mapped->root;
    sides.push_back(std::move(mapped->side));
  }
  if (haveSeveralSettings(takers, type))
    return "its dots need different scale rules, presets or policies";
  if (haveSeveralExponents(takers, sides))
    return "its dots move other powers of two to its columns";
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(root))
    return reasonOfArgument(argument, takers, program, depths);
  auto constant = root.getDefiningOp<stablehlo::ConstantOp>();
  if (!constant)
    return "it is a result of " + root.getDefiningOp()->getName().getStringRef().str();
  if (!hasValues(constant))
    return "its values are not in the text of the program";
  return {};
}

} // namespace

ir::ScaledType scaledType(mlir::MLIRContext* context, const format::ScaledFormat& format,
                          llvm::ArrayRef<std::int64_t> shape, std::int64_t contracted) {
  return ir::ScaledType::get(context, shape, format.element, format.scale,
                             ir::ScaledType::blockOf(format, shape, contracted),
                             format.hasOuterScale);
}

mlir::func::FuncOp privateFunctionOf(mlir::Value root) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(root);
  auto function = argument ? llvm::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp())
                           : mlir::func::FuncOp();
  return function && function.isPrivate() ? function : mlir::func::FuncOp();
}

class Planner {
public:
  Planner(const DotChoice& choice, llvm::ArrayRef<Dot> dots)
      : choice(choice), depths(choice.calls()) {
    for (const Dot& dot : dots)
      for (const DotSide& side : dot.sides)
        if (side.format && side.isWeight()) {
          stablehlo::DotGeneralOp op = side.op;
          take(side.trace.root, {&side, op, side.index, side.trace.movement});
        }
  }

  llvm::Expected<WeightPlan> run() {
    // Callees are decided before callers, since a function's argument decides its calls' operands.
    std::map<unsigned, llvm::SmallVector<mlir::func::FuncOp>> byDepth;
    if (!roots.empty())
      for (mlir::func::FuncOp function : choice.calls().calleesFirst())
        if (const auto depth = depths.of(function); depth && function.isPrivate())
          byDepth[*depth].push_back(function);
    for (const auto& [depth, functions] : byDepth)
      for (mlir::func::FuncOp function : functions)
        if (!function.isExternal())
          for (mlir::BlockArgument argument : function.getArguments())
            if (roots.contains(argument))
              if (llvm::Error error = plan(argument))
                return std::move(error);
    for (std::size_t i = 0; i < roots.size(); ++i)
      if (const mlir::Value root = (roots.begin() + static_cast<std::ptrdiff_t>(i))->first;
          !made.ahead.contains(root) && !made.reasons.contains(root))
        if (llvm::Error error = plan(root))
          return std::move(error);
    return std::move(made);
  }

private:
  void take(mlir::Value root, Taker taker) {
    Takers& takers = roots[root];
    takers.movement.insert(taker.movement.begin(), taker.movement.end());
    takers.operands.insert({taker.user, taker.index});
    takers.all.push_back(std::move(taker));
  }

  llvm::Error plan(mlir::Value root) {
    const Takers takers = roots.find(root)->second;
    std::vector<AheadSide> sides;
    ir::ScaledType type;
    if (std::string reason = decide(root, takers, choice.calls(), depths, sides, type);
        !reason.empty()) {
      made.reasons[root] = reason;
      return llvm::Error::success();
    }
    const DotSide& first = takers.first();
    const ir::QuantizationAttr quantization = DotChoice::quantization(first, type);
    const std::int64_t axis = sides.front().contracting.front();
    AheadRoot ahead{type, quantization, std::nullopt, axis, first.exponents};
    if (auto op = root.getDefiningOp<stablehlo::ConstantOp>()) {
      llvm::Expected<numerics::Tensor> values = interpreter::constantTensor(op, op.getValue());
      if (!values)
        return values.takeError();
      llvm::Expected<QuantizedConstant> constant = quantizeConstant(
          ahead.exponents ? withColumnsMultiplied(*values, ahead.axis, *ahead.exponents) : *values,
          type, quantization.getOptions(type, values->type.format()));
      if (!constant) {
        stablehlo::DotGeneralOp op = first.op;
        return llvm::createStringError(
            sourceName(op.getLoc()) + ": " + llvm::toString(constant.takeError()) +
            std::string(program::kRefused) + std::string(program::kNonFiniteOptions) +
            "; or exclude the dot");
      }
      ahead.constant = std::move(*constant);
    }
    made.ahead.insert({root, ahead});
    for (auto [taker, side] : llvm::zip_equal(takers.all, sides))
      made.sides.insert({WeightPlan::SideKey{taker.user, taker.index}, side});
    if (mlir::func::FuncOp function = privateFunctionOf(root)) {
      const unsigned place = llvm::cast<mlir::BlockArgument>(root).getArgNumber();
      for (mlir::func::CallOp call : choice.calls().callsOf(function)) {
        const WeightTrace& trace = choice.trace(call.getOperand(place));
        made.given[root].push_back(trace.root);
        take(trace.root, {&first, call, place, trace.movement, type, axis});
      }
    }
    return llvm::Error::success();
  }

  const DotChoice& choice;
  CallDepths depths;
  llvm::MapVector<mlir::Value, Takers> roots;
  WeightPlan made;
};

llvm::Expected<WeightPlan> WeightPlan::make(const DotChoice& choice, llvm::ArrayRef<Dot> dots) {
  return choice.options().weightTime == WeightTime::InProgram ? WeightPlan()
                                                              : Planner(choice, dots).run();
}

const AheadSide* WeightPlan::find(mlir::Operation* user, unsigned index) const {
  const auto found = sides.find({user, index});
  return found == sides.end() ? nullptr : &found->second;
}

std::string WeightPlan::reasonInProgram(const DotSide& side) const {
  return reasonOf(side.trace.root);
}

/// Finds the reason of a root from those of its calls' operands.
void WeightPlan::findReason(mlir::Value root) const {
  std::string reason = ahead.contains(root) ? "" : reasons.lookup(root);
  if (const auto roots = given.find(root); ahead.contains(root) && roots != given.end())
    for (mlir::Value each : roots->second)
      if (const std::string& own = found.find(each)->second; reason.empty())
        reason = own;
  found[root] = std::move(reason);
}

/// Iterative, since calls nest as deep as a program is long.
std::string WeightPlan::reasonOf(mlir::Value root) const {
  llvm::SmallVector<mlir::Value> pending = {root};
  while (!pending.empty()) {
    const mlir::Value next = pending.back();
    const std::size_t before = pending.size();
    const auto roots = given.find(next);
    if (!found.contains(next) && ahead.contains(next) && roots != given.end())
      for (mlir::Value each : roots->second)
        if (!found.contains(each))
          pending.push_back(each);
    if (pending.size() != before)
      continue;
    pending.pop_back();
    if (!found.contains(next))
      findReason(next);
  }
  return found.find(root)->second;
}

} // namespace octavo::transforms
