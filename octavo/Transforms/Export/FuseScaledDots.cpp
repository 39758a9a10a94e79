// The pass octavo-fuse-scaled-dots: fuses a product of narrow tensors with the elementwise
// operations that follow it.
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/Shapes/OpenShapes.h"
#include "octavo/Transforms/UnusedOperations.h"
#include "octavo/Transforms/Walks/SourceNames.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <vector>

namespace octavo::transforms {

#define GEN_PASS_DEF_FUSESCALEDDOTS
#include "octavo/Transforms/Passes.h.inc"

namespace {

const format::ElementFormat* formatOf(mlir::Value value) {
  return elementFormat(mlir::getElementTypeOrSelf(value.getType()));
}

bool isNarrow(mlir::Value value) {
  const format::ElementFormat* format = formatOf(value);
  return format != nullptr && format->isNarrow();
}

bool isNamed(mlir::Operation* op, llvm::ArrayRef<llvm::StringRef> names) {
  return op != nullptr && llvm::is_contained(names, op->getName().getStringRef());
}

bool isBroadcast(mlir::Value value) {
  return isNamed(value.getDefiningOp(),
                 {"stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim"});
}

/// The number that all elements of a constant equal, through a few conversions to wide floats and
/// broadcasts; nullopt otherwise.
std::optional<double> constantOf(mlir::Value value) {
  constexpr std::size_t kMostConversions = 16;
  llvm::SmallVector<mlir::FloatType> conversions; // the last one first
  for (;;) {
    if (isBroadcast(value))
      value = value.getDefiningOp()->getOperand(0);
    auto convert = value.getDefiningOp<stablehlo::ConvertOp>();
    if (!convert)
      break;
    const auto element =
        llvm::dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(convert.getType()));
    if (!element || isNarrow(convert.getResult()) || conversions.size() == kMostConversions)
      return std::nullopt;
    conversions.push_back(element);
    value = convert.getOperand();
  }
  mlir::DenseElementsAttr elements;
  if (!mlir::matchPattern(value, mlir::m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  const auto integer = llvm::dyn_cast<mlir::IntegerType>(elements.getElementType());
  const bool isFloat = llvm::isa<mlir::FloatType>(elements.getElementType());
  if (!isFloat && (!integer || integer.isUnsigned() || integer.getWidth() == 1))
    return std::nullopt;
  double number = isFloat
                      ? elements.getSplatValue<llvm::APFloat>().convertToDouble()
                      : static_cast<double>(elements.getSplatValue<llvm::APInt>().getSExtValue());
  for (mlir::FloatType element : llvm::reverse(conversions)) {
    llvm::APFloat rounded(number);
    bool losesInfo = false;
    rounded.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    number = rounded.convertToDouble();
  }
  return number;
}

mlir::Value otherSide(mlir::Operation* op, mlir::Value side) {
  return op->getOperand(op->getOperand(0) == side ? 1 : 0);
}

/// Bounds of values; nullopt: none known.
struct Limits {
  std::optional<double> low, high;
};

/// The bounds of a clamp, or of a minimum of a maximum or the reverse, as JAX writes a clamp. NaN
/// stays NaN in each. No bounds for other operations.
Limits limitsOf(mlir::Operation* op) {
  if (auto clamp = llvm::dyn_cast_or_null<stablehlo::ClampOp>(op))
    return {constantOf(clamp.getMin()), constantOf(clamp.getMax())};
  const bool isMinimum = isNamed(op, {"stablehlo.minimum"});
  if (!isMinimum && !isNamed(op, {"stablehlo.maximum"}))
    return {};
  for (mlir::Value inner : op->getOperands()) {
    mlir::Operation* other = inner.getDefiningOp();
    const std::optional<double> outer = constantOf(otherSide(op, inner));
    if (!outer || !isNamed(other, {isMinimum ? "stablehlo.maximum" : "stablehlo.minimum"}))
      continue;
    for (mlir::Value side : other->getOperands())
      if (const std::optional<double> bound = constantOf(side))
        return isMinimum ? Limits{bound, outer} : Limits{outer, bound};
  }
  return {};
}

/// Whether `op` is a maximum that starts at zero or below: on magnitudes, their amax.
bool isMaximum(mlir::Operation* op) {
  auto reduce = llvm::dyn_cast<stablehlo::ReduceOp>(op);
  if (!reduce || reduce.getInputs().size() != 1)
    return false;
  const std::optional<double> start = constantOf(reduce.getInitValues()[0]);
  mlir::Block& body = reduce.getBody().front();
  return start && *start <= 0 && llvm::hasNItems(body, 2) &&
         isNamed(&body.front(), {"stablehlo.maximum"}) &&
         llvm::is_contained(body.front().getOperands(), body.getArgument(0)) &&
         llvm::is_contained(body.front().getOperands(), body.getArgument(1)) &&
         body.back().getOperand(0) == body.front().getResult(0);
}

bool isRelu(mlir::Operation* op) {
  return isNamed(op, {"stablehlo.maximum"}) &&
         llvm::any_of(op->getOperands(), [](mlir::Value side) { return constantOf(side) == 0.0; });
}

bool isElementwise(mlir::Operation* op) {
  return isNamed(op, {"stablehlo.abs", "stablehlo.add", "stablehlo.clamp", "stablehlo.convert",
                      "stablehlo.divide", "stablehlo.exponential", "stablehlo.logistic",
                      "stablehlo.maximum", "stablehlo.minimum", "stablehlo.multiply",
                      "stablehlo.negate", "stablehlo.power", "stablehlo.subtract", "stablehlo.tanh",
                      "chlo.erf", "chlo.erfc", "octavo.convert"});
}

bool isMovement(mlir::Operation* op) {
  return isNamed(op, {"stablehlo.reshape", "stablehlo.dynamic_reshape", "stablehlo.transpose"});
}

/// Why a conversion to a narrow format is not fused; empty if it is.
std::string clampMissing(mlir::Operation* op) {
  auto convert = llvm::dyn_cast<stablehlo::ConvertOp>(op);
  if (!convert || !isNarrow(convert.getResult()))
    return "";
  const format::ElementFormat& format = *formatOf(convert.getResult());
  if (format.specials == format::Specials::None)
    return ""; // values beyond the largest become it
  const double most = numerics::maxValue(format);
  if (const Limits limits = limitsOf(convert.getOperand().getDefiningOp());
      limits.low == -most && limits.high == most)
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << "it converts without a clamp to the limits of " << format.name
                                 << ", [" << llvm::format("%g, %g", -most, most)
                                 << "], just before: clamp to them, or allow overflow "
                                    "(overflow=allow)";
  return text;
}

/// A product and the operations to fuse with it.
class Epilogue {
public:
  Epilogue(mlir::Operation* product, bool allowsOverflow)
      : product(product), allowsOverflow(allowsOverflow) {
    members.insert(product);
    grow();
    while (dropLeaf())
      ;
  }

  /// Replaces the members by an octavo.fused_dot, if there is anything to fuse.
  void fuse();
  /// The fused operations, and the first obstacle to more, in words.
  std::string describe() const;

private:
  /// The most operations downstream of the product that are examined.
  static constexpr std::size_t kMostFollowers = 1000;

  void grow();
  bool dropLeaf();
  std::string whyLeft(mlir::Operation* op) const;
  bool isMember(mlir::Value value) const {
    return value.getDefiningOp() && members.contains(value.getDefiningOp());
  }
  bool escapes(mlir::Value value) const {
    return llvm::any_of(value.getUsers(),
                        [&](mlir::Operation* user) { return !members.contains(user); });
  }
  std::string part(mlir::Operation* op) const;
  mlir::Value inside(mlir::Value value, mlir::OpBuilder& builder, mlir::IRMapping& copies,
                     llvm::SmallVector<mlir::Value>& inputs, mlir::Block& body,
                     int broadcasts = 8) const;

  mlir::Operation* product;
  bool allowsOverflow;
  llvm::SetVector<mlir::Operation*> members, left;
  std::string obstacle;
};

/// Why a user of a member's value does not become a member; empty if it does.
std::string Epilogue::whyLeft(mlir::Operation* op) const {
  if (isNamed(op, {"func.call", "stablehlo.composite"}))
    return "calls are not looked into: inline them first (--inline)";
  if (!isElementwise(op) && !isMovement(op) && !isMaximum(op))
    return "it is no part of an epilogue";
  for (mlir::Value operand : op->getOperands()) {
    if (operand.getDefiningOp() && left.contains(operand.getDefiningOp()))
      return "it takes a value that is computed from the product outside of the epilogue";
    if (isMember(operand) && (isNarrow(operand) || isMaximum(operand.getDefiningOp())))
      return "it takes what the epilogue ends with";
  }
  if (isMaximum(op) && !isRelu(op->getOperand(0).getDefiningOp()) &&
      !isNamed(op->getOperand(0).getDefiningOp(), {"stablehlo.abs"}))
    return "it is a maximum of values with signs, not of magnitudes";
  if (formatOf(op->getResult(0)) == nullptr)
    return "it does not compute floats";
  if (isElementwise(op) && isNarrow(op->getResult(0)) &&
      !isNamed(op, {"stablehlo.convert", "octavo.convert"}))
    return "it computes in a narrow format";
  return allowsOverflow ? "" : clampMissing(op);
}

/// Adds members: examines the operations downstream of the product in block order, as long as some
/// use a member's value. Stops after kMostFollowers, so that the time for a product does not grow
/// with the length of the program.
void Epilogue::grow() {
  mlir::Block& block = *product->getBlock();
  const auto isLater = [](mlir::Operation* a, mlir::Operation* b) { return b->isBeforeInBlock(a); };
  std::vector<mlir::Operation*> followers;      // a heap
  llvm::DenseMap<mlir::Operation*, bool> known; // whether they use members' values
  std::size_t waiting = 0;                      // number of followers that use members' values
  const auto addUsersOf = [&](mlir::Operation* op, bool areOfMember) {
    for (mlir::Operation* user : op->getUsers()) {
      mlir::Operation* follower = block.findAncestorOpInBlock(*user);
      if (follower == nullptr || follower->hasTrait<mlir::OpTrait::IsTerminator>())
        continue;
      const auto [found, isNew] = known.try_emplace(follower, areOfMember);
      if (areOfMember && (isNew || !found->second))
        ++waiting;
      found->second |= areOfMember;
      if (!isNew)
        continue;
      followers.push_back(follower);
      std::push_heap(followers.begin(), followers.end(), isLater);
    }
  };
  addUsersOf(product, true);
  for (std::size_t count = 0; waiting > 0 && count < kMostFollowers; ++count) {
    std::pop_heap(followers.begin(), followers.end(), isLater);
    mlir::Operation* op = followers.back();
    followers.pop_back();
    const bool takesMember = known.lookup(op);
    waiting -= takesMember ? 1 : 0;
    bool takesWide = false;
    if (takesMember)
      op->walk([&](mlir::Operation* inner) {
        for (mlir::Value operand : inner->getOperands())
          takesWide |=
              isMember(operand) && !isNarrow(operand) && !isMaximum(operand.getDefiningOp());
      });
    const std::string why = takesMember ? whyLeft(op) : "it follows what is left";
    if (why.empty()) {
      members.insert(op);
      addUsersOf(op, true);
      continue;
    }
    if (takesWide && obstacle.empty())
      obstacle =
          (op->getName().getStringRef() + " (" + sourceName(op->getLoc()) + "): " + why).str();
    left.insert(op);
    if (!mlir::isMemoryEffectFree(op))
      return; // it may not be moved
    addUsersOf(op, false);
  }
}

/// Removes a last member that only adds a result: it only moves values, or its operand is needed
/// outside anyway. Returns whether there was one.
bool Epilogue::dropLeaf() {
  for (mlir::Operation* op : llvm::reverse(members)) {
    if (op == product ||
        llvm::any_of(op->getUsers(), [&](mlir::Operation* user) { return members.contains(user); }))
      continue;
    const bool onlyAdds = !isMaximum(op) && !isRelu(op) && !isNarrow(op->getResult(0)) &&
                          llvm::all_of(op->getOperands(), [&](mlir::Value operand) {
                            return !isMember(operand) || escapes(operand);
                          });
    if (onlyAdds || isMovement(op)) {
      members.remove(op);
      left.insert(op);
      return true;
    }
  }
  return false;
}

/// `value` inside the body: a member's copy, the copy of a constant or of a few broadcasts, or an
/// input.
mlir::Value Epilogue::inside(mlir::Value value, mlir::OpBuilder& builder, mlir::IRMapping& copies,
                             llvm::SmallVector<mlir::Value>& inputs, mlir::Block& body,
                             int broadcasts) const {
  if (mlir::Value copy = copies.lookupOrNull(value))
    return copy;
  mlir::Operation* maker = value.getDefiningOp();
  const bool isCopied = isBroadcast(value) && broadcasts > 0;
  if (isCopied)
    for (mlir::Value operand : maker->getOperands())
      inside(operand, builder, copies, inputs, body, broadcasts - 1);
  if (isCopied || isNamed(maker, {"stablehlo.constant"})) {
    builder.clone(*maker, copies);
    return copies.lookup(value);
  }
  inputs.push_back(value);
  const mlir::Value argument = body.addArgument(value.getType(), value.getLoc());
  copies.map(value, argument);
  return argument;
}

void Epilogue::fuse() {
  if (members.size() == 1)
    return;
  llvm::SmallVector<mlir::Value> inputs, results, yielded;
  for (mlir::Operation* op : members)
    for (mlir::Value result : op->getResults())
      if (escapes(result))
        results.push_back(result);
  mlir::Operation* last = members.back();
  mlir::OpBuilder builder(last);
  auto fused = ir::FusedDotOp::create(builder, product->getLoc(),
                                      mlir::TypeRange(mlir::ValueRange(results)), inputs);
  fused->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  mlir::Block& body = fused.getBody().emplaceBlock();
  auto inBody = mlir::OpBuilder::atBlockEnd(&body);
  mlir::IRMapping copies;
  for (mlir::Operation* op : members) {
    for (mlir::Value operand : op->getOperands())
      inside(operand, inBody, copies, inputs, body);
    inBody.clone(*op, copies);
  }
  fused.getInputsMutable().append(inputs);
  for (mlir::Value result : results)
    yielded.push_back(copies.lookup(result));
  ir::YieldOp::create(inBody, product->getLoc(), yielded);

  for (auto [from, to] : llvm::zip_equal(results, fused.getResults()))
    from.replaceAllUsesWith(to);
  llvm::SmallVector<mlir::Operation*> users;
  for (mlir::Operation* op : left)
    if (op->isBeforeInBlock(last))
      users.push_back(op);
  llvm::sort(users, [](mlir::Operation* a, mlir::Operation* b) { return a->isBeforeInBlock(b); });
  mlir::Operation* next = last->getNextNode();
  for (mlir::Operation* op : users)
    op->moveBefore(next);
  llvm::SetVector<mlir::Operation*> copied;
  for (mlir::Operation* op : members)
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation* maker = operand.getDefiningOp();
          maker && !members.contains(maker) &&
          (isBroadcast(operand) || isNamed(maker, {"stablehlo.constant"})))
        copied.insert(maker);
  for (mlir::Operation* op : llvm::reverse(members))
    op->erase();
  for (mlir::Operation* op : copied)
    if (op->use_empty())
      op->erase();
}

/// The operations of 1 / (1 + e^-x), or of x times it, around their exponential.
struct Sigmoid {
  llvm::SmallVector<mlir::Operation*, 5> operations = {}; ///< empty: not a sigmoid
  bool isTimesItsOperand = false;
};

Sigmoid sigmoidAround(mlir::Operation* exponential) {
  const auto onlyUser = [](mlir::Operation* op, llvm::StringRef name) -> mlir::Operation* {
    return op->hasOneUse() && isNamed(*op->user_begin(), {name}) ? *op->user_begin() : nullptr;
  };
  auto negate = exponential->getOperand(0).getDefiningOp<stablehlo::NegOp>();
  mlir::Operation* sum = onlyUser(exponential, "stablehlo.add");
  if (!negate || sum == nullptr || constantOf(otherSide(sum, exponential->getResult(0))) != 1.0)
    return {};
  mlir::Operation* quotient = onlyUser(sum, "stablehlo.divide");
  if (quotient == nullptr || quotient->getOperand(1) != sum->getResult(0))
    return {};
  const mlir::Value x = negate.getOperand(), dividend = quotient->getOperand(0);
  Sigmoid found{.operations = {negate, exponential, sum, quotient},
                .isTimesItsOperand = dividend == x};
  if (dividend == x)
    return found;
  if (constantOf(dividend) != 1.0)
    return {};
  mlir::Operation* product = onlyUser(quotient, "stablehlo.multiply");
  if (product != nullptr && otherSide(product, quotient->getResult(0)) == x) {
    found.operations.push_back(product);
    found.isTimesItsOperand = true;
  }
  return found;
}

/// The usual name of an operation of the epilogue; empty if it is part of another named one.
std::string Epilogue::part(mlir::Operation* op) const {
  const auto has = [&](llvm::StringRef name) {
    return llvm::any_of(members, [&](mlir::Operation* member) { return isNamed(member, {name}); });
  };
  // Gated, x * f(x): both factors come from the product.
  const bool isGated = llvm::any_of(members, [&](mlir::Operation* member) {
    return isNamed(member, {"stablehlo.multiply"}) &&
           llvm::all_of(member->getOperands(),
                        [&](mlir::Value operand) { return isMember(operand); });
  });
  const llvm::StringRef name = op->getName().getStringRef();
  for (mlir::Operation* member : members) {
    if (!isNamed(member, {"stablehlo.exponential"}))
      continue;
    const Sigmoid sigmoid = sigmoidAround(member);
    if (llvm::is_contained(sigmoid.operations, op))
      return op != member ? "" : sigmoid.isTimesItsOperand ? "silu" : "logistic";
  }
  if (isMaximum(op))
    return "amax";
  if (isRelu(op))
    return "relu";
  if (name == "stablehlo.tanh")
    return isGated ? "gelu (tanh)" : "tanh";
  if (name == "chlo.erf" || name == "chlo.erfc")
    return isGated ? "gelu (" + name.drop_front(5).str() + ")" : name.drop_front(5).str();
  if (name == "stablehlo.logistic")
    return isGated ? "silu" : "logistic";
  if (name == "stablehlo.convert" || name == "octavo.convert")
    return "convert to " + std::string(formatOf(op->getResult(0))->name);
  if (name == "stablehlo.exponential")
    return "exponential";
  if (const Limits limits = limitsOf(op); limits.low || name == "stablehlo.clamp")
    return "clamp";
  const bool isActivation = isGated && (has("stablehlo.tanh") || has("chlo.erf") ||
                                        has("chlo.erfc") || has("stablehlo.logistic"));
  for (mlir::Value operand : op->getOperands()) {
    if (isMember(operand))
      continue;
    if (constantOf(operand) && isActivation)
      return "";
    if (isNamed(op, {"stablehlo.add", "stablehlo.subtract"}))
      return isBroadcast(operand) ? "bias" : "residual";
    if (isNamed(op, {"stablehlo.multiply", "stablehlo.divide"}))
      return "scale";
  }
  return "";
}

std::string Epilogue::describe() const {
  llvm::SmallVector<std::string> parts;
  for (mlir::Operation* op : members.getArrayRef().drop_front())
    if (std::string each = part(op); !each.empty() && (parts.empty() || parts.back() != each))
      parts.push_back(std::move(each));
  std::string text = members.size() > 1 ? "fused: " + llvm::join(parts, ", ") : "nothing to fuse";
  if (!obstacle.empty())
    text += (members.size() > 1 ? "; then " : ": ") + obstacle;
  return text;
}

/// The side, and the axis of it, that an axis of a product's result comes from.
std::pair<unsigned, std::size_t> sideOfAxis(ir::DotGeneralOp dot, std::size_t axis) {
  const auto numbers = dot.getDotDimensionNumbers();
  const auto batching = numbers.getLhsBatchingDimensions();
  if (axis < batching.size())
    return {0, static_cast<std::size_t>(batching[axis])};
  axis -= batching.size();
  for (unsigned side : {0U, 1U}) {
    const auto rank = llvm::cast<ir::ScaledType>(dot->getOperand(side).getType()).getRank();
    for (std::int64_t of = 0; of < rank; ++of) {
      const bool isFree =
          !llvm::is_contained(side == 0 ? batching : numbers.getRhsBatchingDimensions(), of) &&
          !llvm::is_contained(side == 0 ? numbers.getLhsContractingDimensions()
                                        : numbers.getRhsContractingDimensions(),
                              of);
      if (isFree && axis-- == 0)
        return {side, static_cast<std::size_t>(of)};
    }
  }
  llvm_unreachable("the verifier counts the axes");
}

/// Moves outer scales out of a product into an operation after it, with the same bits: they
/// multiply the sum of two scaled sides, in f32, at the end (D5). Returns the product without them.
mlir::Operation* withoutOuterScales(mlir::Operation* op) {
  auto dot = llvm::dyn_cast<ir::DotGeneralOp>(op);
  if (!dot || !mlir::getElementTypeOrSelf(dot.getType()).isF32())
    return op;
  ir::PackOp packs[] = {dot.getLhs().getDefiningOp<ir::PackOp>(),
                        dot.getRhs().getDefiningOp<ir::PackOp>()};
  if (!packs[0] || !packs[1] || !(packs[0].getOuter() || packs[1].getOuter()))
    return op;
  mlir::OpBuilder builder(dot);
  const mlir::Location location = dot.getLoc();
  mlir::Value sides[2], outer;
  for (auto [pack, side] : llvm::zip_equal(packs, sides)) {
    side = pack.getResult();
    if (!pack.getOuter())
      continue;
    const auto type = llvm::cast<ir::ScaledType>(side.getType());
    side = ir::PackOp::create(builder, location,
                              ir::ScaledType::get(builder.getContext(), type.getShape(),
                                                  type.getElement(), type.getScale(),
                                                  type.getBlock(), false),
                              pack.getElements(), pack.getScales(), mlir::Value());
    outer = outer ? stablehlo::MulOp::create(builder, location, outer, pack.getOuter()).getResult()
                  : pack.getOuter();
  }
  auto product = ir::DotGeneralOp::create(builder, location, dot.getType(), sides[0], sides[1],
                                          dot.getDotDimensionNumbers(), mlir::TypeAttr());
  product->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
  std::vector<mlir::Operation*> made;
  OpenShapes shapes(builder, location, made);
  const mlir::Value factors =
      shapes.broadcast(outer, {}, dot.getType().getShape(), [&](std::size_t axis) {
        const auto [side, of] = sideOfAxis(dot, axis);
        return shapes.sizeOf(packs[side].getElements(), of);
      });
  dot.replaceAllUsesWith(
      stablehlo::MulOp::create(builder, location, product.getResult(), factors).getResult());
  dot.erase();
  eraseUnused({std::begin(packs), std::end(packs)});
  return product;
}

class FuseScaledDots : public impl::FuseScaledDotsBase<FuseScaledDots> {
public:
  using FuseScaledDotsBase::FuseScaledDotsBase;

  void runOnOperation() override {
    if (overflow != "clamped" && overflow != "allow")
      return fail("no overflow \"" + overflow.getValue() + "\"; available: clamped allow");
    llvm::SmallVector<mlir::Operation*> products;
    getOperation().walk([&](mlir::Operation* op) {
      if (ir::isNarrowProduct(op) && !llvm::isa<ir::FusedDotOp>(op->getParentOp()))
        products.push_back(op);
    });
    for (mlir::Operation* op : products) {
      op = withoutOuterScales(op);
      Epilogue epilogue(op, overflow == "allow");
      mlir::emitRemark(op->getLoc()) << sourceName(op->getLoc()) << " " << epilogue.describe();
      epilogue.fuse();
    }
  }
};

} // namespace

} // namespace octavo::transforms
