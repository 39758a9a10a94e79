#include "octavo/Compiler/Plan/IndexedSlices.h"

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Dialect/CalledFunction.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>

namespace octavo::compiler {

std::int64_t slicesOf(const IndexedSlices& choices) {
  std::int64_t slices = 1;
  for (const Choice& choice : choices)
    slices *= choice.slices;
  return slices;
}

bool isOfProduct(const IndexedSlices& choices) {
  return llvm::any_of(choices, [](const Choice& choice) { return choice.stride != 0; });
}

namespace {

/// An element of a tensor, in the slice that one operation selects along one axis.
struct SlicedElement {
  mlir::Value whole;
  llvm::SmallVector<Index> indices; ///< of the element; along `axis`, a variable that counts slices
  std::size_t axis;
  Choice choice;
  std::optional<Index> number; ///< a gather: which of its indices selects the slice
};

/// The axis along which slices have extent 1, if they are complete along every other axis.
std::optional<std::size_t> slicedAxis(llvm::ArrayRef<std::int64_t> from,
                                      llvm::ArrayRef<std::int64_t> sizes) {
  std::optional<std::size_t> found;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == sizes[axis])
      continue;
    if (found || sizes[axis] != 1)
      return std::nullopt;
    found = axis;
  }
  return found;
}

std::optional<SlicedElement> throughSlice(stablehlo::DynamicSliceOp slice, const Index& linear,
                                          Variables& variables) {
  const auto axis = slicedAxis(shapeOf(slice.getOperand()), slice.getSliceSizes());
  if (!axis)
    return std::nullopt;
  return SlicedElement{
      slice.getOperand(),
      indicesOf(linear, shapeOf(slice.getResult()), variables),
      *axis,
      {shapeOf(slice.getOperand())[*axis], slice.getStartIndices()[static_cast<unsigned>(*axis)]},
      std::nullopt};
}

/// The value that holds the indices in their order, if they are a view of all of it; else
/// `indices`.
mlir::Value arrayOf(mlir::Value indices) {
  const std::int64_t count = sizeOf(indices);
  if (count == 0)
    return indices;
  Unknowns unknowns(1);
  const Element source = sourceOf({indices, Index::variable(0, count)}, unknowns);
  return source.linear == Index::variable(0, count) && sizeOf(source.tensor) == count
             ? source.tensor
             : indices;
}

std::optional<SlicedElement> throughGather(stablehlo::GatherOp gather, const Index& linear,
                                           Variables& variables) {
  const auto numbers = gather.getDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> map = numbers.getStartIndexMap(),
                                     from = shapeOf(gather.getOperand()),
                                     to = shapeOf(gather.getResult());
  // Starts along the other axes are clamped to 0: the slice is complete along them.
  const auto axis = slicedAxis(from, gather.getSliceSizes());
  if (!axis || !numbers.getOperandBatchingDims().empty())
    return std::nullopt;
  const auto* const component = llvm::find(map, static_cast<std::int64_t>(*axis));
  const mlir::Value starts = gather.getStartIndices();
  const auto components = static_cast<std::int64_t>(map.size());
  const bool areBeside = components == 1 || numbers.getIndexVectorDim() + 1 ==
                                                static_cast<std::int64_t>(shapeOf(starts).size());
  if (component == map.end() || !areBeside)
    return std::nullopt;
  const llvm::SmallVector<Index> at = indicesOf(linear, to, variables);
  llvm::SmallVector<Index> batch, ofSlice;
  llvm::SmallVector<std::int64_t> batchShape;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (llvm::is_contained(numbers.getOffsetDims(), static_cast<std::int64_t>(i))) {
      ofSlice.push_back(at[i]);
      continue;
    }
    batch.push_back(at[i]);
    batchShape.push_back(to[i]);
  }
  for (const std::int64_t collapsed : numbers.getCollapsedSliceDims())
    ofSlice.insert(ofSlice.begin() + collapsed, Index());
  return SlicedElement{gather.getOperand(),
                       std::move(ofSlice),
                       *axis,
                       {from[*axis], components == 1 ? arrayOf(starts) : starts,
                        component - map.begin(), components},
                       linearIndex(batch, batchShape)};
}

std::optional<SlicedElement> sliced(const Element& element, Variables& variables) {
  mlir::Operation* op = element.tensor.getDefiningOp();
  if (auto slice = llvm::dyn_cast_if_present<stablehlo::DynamicSliceOp>(op))
    return throughSlice(slice, element.linear, variables);
  if (auto gather = llvm::dyn_cast_if_present<stablehlo::GatherOp>(op))
    return throughGather(gather, element.linear, variables);
  return std::nullopt;
}

} // namespace

/// The operand of a conversion to a type that holds all values of the operand's type; else null.
static mlir::Value widenedFrom(mlir::Value value) {
  auto convert = value.getDefiningOp<stablehlo::ConvertOp>();
  const mlir::Type to = elementOf(value);
  if (!convert || !(to.isF32() || to.isBF16()))
    return {};
  const mlir::Type element = elementOf(convert.getOperand());
  const format::ElementFormat* from = elementFormat(element);
  const bool isCode = from != nullptr && from->width() == 8 && !from->isInteger();
  const bool isHalf = to.isF32() && (element.isBF16() || element.isF16());
  return isCode || isHalf ? convert.getOperand() : mlir::Value();
}

Element throughConversions(Element element, Variables& variables) {
  element = sourceOf(std::move(element), variables);
  while (const mlir::Value from = widenedFrom(element.tensor))
    element = sourceOf({from, element.linear}, variables);
  return element;
}

/// Traces an element through the selections that `may` accepts.
static ChosenElement throughChoices(Element element, int variable, Conversions conversions,
                                    Variables& variables,
                                    llvm::function_ref<bool(const SlicedElement&)> may) {
  const auto source = [&](Element from) {
    return conversions == Conversions::Widen ? throughConversions(std::move(from), variables)
                                             : sourceOf(std::move(from), variables);
  };
  ChosenElement chosen{source(std::move(element)), {}};
  for (int i = 0; i < kMostChoices; ++i) {
    auto next = sliced(chosen.element, variables);
    if (!next || !may(*next))
      break;
    const llvm::ArrayRef<std::int64_t> shape = shapeOf(next->whole);
    next->indices[next->axis] = Index::variable(variable + i, next->choice.slices);
    chosen.element = source({next->whole, linearIndex(next->indices, shape)});
    chosen.choices.push_back(next->choice);
  }
  return chosen;
}

ChosenElement throughChoices(Element element, int variable, const Index& product,
                             Conversions conversions, Variables& variables) {
  return throughChoices(
      std::move(element), variable, conversions, variables,
      [&](const SlicedElement& next) { return !next.number || *next.number == product; });
}

std::optional<Index> choiceNumber(Element element, int variable, Conversions conversions,
                                  Variables& variables) {
  std::optional<Index> number;
  throughChoices(std::move(element), variable, conversions, variables,
                 [&](const SlicedElement& next) {
                   number = next.number;
                   return !number;
                 });
  return number;
}

bool comesAgain(mlir::Value memory) {
  if (mlir::Operation* op = memory.getDefiningOp())
    return llvm::isa<stablehlo::ConstantOp>(op) && !isInlined(op);
  const auto argument = mlir::cast<mlir::BlockArgument>(memory);
  mlir::Operation* const parent = argument.getOwner()->getParentOp();
  if (!llvm::isa<stablehlo::WhileOp>(parent))
    return llvm::isa<mlir::func::FuncOp>(parent) && !isCalled(parent);
  const unsigned number = argument.getArgNumber();
  mlir::Block& body = parent->getRegion(1).front();
  return argument == body.getArgument(number) &&
         body.getTerminator()->getOperand(number) == argument &&
         comesAgain(inMemory(parent->getOperand(number)));
}

bool selectsSlices(mlir::Operation* op) {
  return llvm::isa_and_present<stablehlo::DynamicSliceOp, stablehlo::GatherOp>(op);
}

} // namespace octavo::compiler
