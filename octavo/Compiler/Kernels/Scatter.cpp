#include "octavo/Compiler/Kernels/Scatter.h"

#include "octavo/Compiler/Kernels/FunctionCode.h"
#include "octavo/Compiler/Kernels/Members.h"
#include "octavo/Compiler/Kernels/Windows.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::compiler {

namespace {

using Axes = llvm::SmallVector<std::int64_t>;
using Carried = Elements::Values;

std::int64_t count(llvm::ArrayRef<std::int64_t> extents) {
  std::int64_t all = 1;
  for (const std::int64_t extent : extents)
    all *= extent;
  return all;
}

bool isTensorOfCode(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isCompiled(tensor.getElementType());
}

bool hasTensorsOfCode(mlir::Operation* op) {
  return llvm::all_of(op->getOperandTypes(), isTensorOfCode) &&
         llvm::all_of(op->getResultTypes(), isTensorOfCode);
}

bool takes(mlir::Region& body, mlir::Type element) {
  return llvm::all_of(body.getArgumentTypes(),
                      [&](mlir::Type type) { return mlir::getElementTypeOrSelf(type) == element; });
}

std::string whyNoBodyWithScalars(mlir::Region& body) {
  return whyNoBody(body, scalarsAround(body));
}

void addScalarsAround(FunctionCode& function, mlir::Region& body) {
  for (mlir::Value scalar : scalarsAround(body))
    if (!function.isArgument(scalar))
      function.addArgument(scalar);
}

/// Loads the captured scalars once, at the beginning of the function.
BodyValues loadScalarsAround(FunctionCode& function, mlir::Region& body) {
  BodyValues loaded;
  for (mlir::Value scalar : scalarsAround(body))
    loaded[scalar] = function.load(scalar, Index());
  return loaded;
}

/// An axis of the updates.
struct UpdateAxis {
  std::int64_t extent;
  std::int64_t inputAxis = -1; ///< the axis of the input along which it moves; -1: none
  std::int64_t indexAxis = -1; ///< the axis of the indices along which it moves; -1: none
  bool isFree = false;         ///< no index moves it, so that no two of its places coincide
};

std::vector<UpdateAxis> updateAxes(stablehlo::ScatterOp op) {
  const auto numbers = op.getScatterDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getInputs()[0]);
  const llvm::ArrayRef<std::int64_t> updates = shapeOf(op.getUpdates()[0]);
  Axes windowAxes, indexAxes;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), axis) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), axis))
      windowAxes.push_back(axis);
  const auto indexRank = static_cast<std::int64_t>(shapeOf(op.getScatterIndices()).size());
  for (std::int64_t axis = 0; axis < indexRank; ++axis)
    if (axis != numbers.getIndexVectorDim())
      indexAxes.push_back(axis);
  std::vector<UpdateAxis> axes;
  std::size_t nextWindow = 0, nextIndex = 0;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    UpdateAxis& axis = axes.emplace_back(UpdateAxis{.extent = updates[i]});
    if (llvm::is_contained(numbers.getUpdateWindowDims(), static_cast<std::int64_t>(i))) {
      axis.inputAxis = windowAxes[nextWindow++];
      axis.isFree = !llvm::is_contained(numbers.getScatterDimsToOperandDims(), axis.inputAxis);
      continue;
    }
    axis.indexAxis = indexAxes[nextIndex++];
    for (const auto& [ours, theirs] :
         llvm::zip(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims()))
      if (theirs == axis.indexAxis)
        axis.inputAxis = ours;
  }
  return axes;
}

} // namespace

std::string whyNoScatter(stablehlo::ScatterOp op) {
  if (!hasTensorsOfCode(op))
    return "kernels do not work on its elements";
  mlir::Region& body = op.getUpdateComputation();
  for (const auto& [i, pair] : llvm::enumerate(llvm::zip(op.getInputs(), op.getUpdates()))) {
    const mlir::Type element = elementOf(std::get<0>(pair));
    for (const std::size_t argument : {i, op.getInputs().size() + i})
      if (elementOf(body.getArgument(static_cast<unsigned>(argument))) != element ||
          elementOf(std::get<1>(pair)) != element)
        return "its body is not of its elements' type";
  }
  return whyNoBodyWithScalars(body);
}

WritingCode emitScatter(stablehlo::ScatterOp op) {
  const auto numbers = op.getScatterDimensionNumbers();
  const std::vector<UpdateAxis> axes = updateAxes(op);
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getInputs()[0]);
  const llvm::ArrayRef<std::int64_t> updateShape = shapeOf(op.getUpdates()[0]);
  const mlir::Value starts = op.getScatterIndices();
  const llvm::ArrayRef<std::int64_t> startShape = shapeOf(starts);
  Axes ordered, free;
  for (const UpdateAxis& axis : axes)
    (axis.isFree ? free : ordered).push_back(axis.extent);
  const std::int64_t turns = count(ordered), columns = count(free);

  FunctionCode function;
  llvm::IRBuilder<>& b = function.b;
  function.addArgument(starts);
  const llvm::SmallVector<mlir::Value> results(op.getResults());
  for (mlir::Value update : op.getUpdates())
    if (!function.isArgument(update))
      function.addArgument(update);
  mlir::Region& body = op.getUpdateComputation();
  addScalarsAround(function, body);
  for (mlir::Value result : results)
    function.addArgument(result);
  function.begin();
  const BodyValues around = loadScalarsAround(function, body);
  const auto write = [&](llvm::Value* turn, const Carried&) -> Carried {
    const auto at =
        indicesOf(Index::variable(function.define(turn, turns), turns), ordered, function);
    // The target of the index along all axes except the free ones.
    llvm::SmallVector<llvm::Value*> place(shape.size(), b.getInt64(0));
    llvm::SmallVector<Index> start(startShape.size());
    std::size_t next = 0;
    for (const UpdateAxis& axis : axes) {
      if (axis.isFree)
        continue;
      if (axis.inputAxis >= 0)
        place[static_cast<std::size_t>(axis.inputAxis)] = function.code(at[next]);
      if (axis.indexAxis >= 0)
        start[static_cast<std::size_t>(axis.indexAxis)] = at[next];
      ++next;
    }
    llvm::Value* isInside = b.getTrue();
    const bool isUnsignedStart = isUnsigned(elementOf(starts));
    for (const auto& [component, axis] : llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
      const auto own = static_cast<std::size_t>(axis);
      if (static_cast<std::size_t>(numbers.getIndexVectorDim()) < startShape.size())
        start[static_cast<std::size_t>(numbers.getIndexVectorDim())] =
            Index(static_cast<std::int64_t>(component));
      llvm::Value* number = function.element(starts, linearIndex(start, startShape));
      number = isUnsignedStart ? b.CreateZExt(number, b.getInt64Ty())
                               : b.CreateSExt(number, b.getInt64Ty());
      llvm::Value* extent = b.getInt64(shape[own]);
      // A sum that wraps is negative; an unsigned 64-bit number must not wrap back into range.
      if (isUnsignedStart)
        isInside = b.CreateAnd(isInside, b.CreateICmpULT(number, extent));
      place[own] = b.CreateAdd(place[own], number);
      isInside = b.CreateAnd(isInside, b.CreateICmpULT(place[own], extent));
    }
    const auto strides = rowMajorStrides(shape);
    llvm::Value* base = b.getInt64(0);
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      base = b.CreateAdd(base, b.CreateMul(place[axis], b.getInt64(strides[axis])));
    const std::int64_t size = std::max<std::int64_t>(1, sizeOf(op.getInputs()[0]));
    const Index first = Index::variable(function.define(base, size), size);
    function.when(isInside, [&] {
      function.forRange(function.firstRow(), function.endRow(), [&](llvm::Value* column) {
        const auto inner =
            indicesOf(Index::variable(function.define(column, columns), columns), free, function);
        llvm::SmallVector<Index> from(axes.size());
        Index to = first;
        std::size_t nextFree = 0, nextOrdered = 0;
        for (const auto& [i, axis] : llvm::enumerate(axes)) {
          from[i] = axis.isFree ? inner[nextFree++] : at[nextOrdered++];
          if (axis.isFree)
            to = to + from[i] * strides[static_cast<std::size_t>(axis.inputAxis)];
        }
        Carried arguments;
        for (mlir::Value result : results)
          arguments.push_back(function.load(result, to));
        for (mlir::Value update : op.getUpdates())
          arguments.push_back(function.element(update, linearIndex(from, updateShape)));
        const auto combined = emitBody(function.scalars, body, arguments, around);
        for (const auto& [result, value] : llvm::zip(results, combined))
          function.store(result, value, to);
      });
    });
    return {};
  };
  function.repeat(turns, {}, write);
  return {function.finish(), columns, turns};
}

std::string whyNoScatter(stablehlo::SelectAndScatterOp op) {
  if (!hasTensorsOfCode(op))
    return "kernels do not work on its elements";
  const mlir::Type element = elementOf(op.getOperand());
  for (mlir::Region* body : {&op.getSelect(), &op.getScatter()}) {
    if (!takes(*body, element) || elementOf(op.getSource()) != element ||
        elementOf(op.getResult()) != element || elementOf(op.getInitValue()) != element)
      return "its bodies are not of its elements' type";
    if (const std::string why = whyNoBodyWithScalars(*body); !why.empty())
      return why;
  }
  return "";
}

WritingCode emitScatter(stablehlo::SelectAndScatterOp op) {
  const mlir::Value operand = op.getOperand(), source = op.getSource(), init = op.getInitValue(),
                    result = op.getResult();
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(operand), counts = shapeOf(source);
  const stablehlo::Window window = stablehlo::windowOf(static_cast<std::int64_t>(shape.size()),
                                                       {.sizes = op.getWindowDimensions(),
                                                        .strides = op.getWindowStrides(),
                                                        .baseDilations = std::nullopt,
                                                        .windowDilations = std::nullopt,
                                                        .padding = op.getPadding()});
  // Leading axes that no window crosses.
  std::size_t leading = 0;
  while (leading < shape.size() && window[leading].size == 1 && window[leading].stride == 1 &&
         window[leading].low == 0 && window[leading].high == 0)
    ++leading;
  const std::int64_t rows = count(shape.take_front(leading));
  const llvm::ArrayRef<std::int64_t> own = shape.drop_front(leading);
  const llvm::ArrayRef<std::int64_t> ownCounts = counts.drop_front(leading);
  const std::int64_t size = count(own), windows = count(ownCounts);
  Axes sizes;
  for (const stablehlo::WindowAxis& axis : llvm::ArrayRef(window).drop_front(leading))
    sizes.push_back(axis.size);

  FunctionCode function;
  llvm::IRBuilder<>& b = function.b;
  for (mlir::Value value : {operand, source, init})
    if (!function.isArgument(value))
      function.addArgument(value);
  addScalarsAround(function, op.getSelect());
  addScalarsAround(function, op.getScatter());
  function.addArgument(result);
  function.begin();
  const BodyValues ofSelect = loadScalarsAround(function, op.getSelect());
  const BodyValues ofScatter = loadScalarsAround(function, op.getScatter());
  function.forRange(function.firstRow(), function.endRow(), [&](llvm::Value* each) {
    const Index row = Index::variable(function.define(each, rows), rows);
    llvm::Value* initial = function.element(init, Index());
    function.repeat(size, {}, [&](llvm::Value* i, const Carried&) -> Carried {
      function.store(result, initial, row * size + Index::variable(function.define(i, size), size));
      return {};
    });
    function.repeat(windows, {}, [&](llvm::Value* i, const Carried&) -> Carried {
      const Index number = Index::variable(function.define(i, windows), windows);
      const auto at = indicesOf(number, ownCounts, function);
      // The place of the selected element, -1 if none, and its value.
      llvm::Value* none = b.getInt64(-1);
      llvm::Value* nothing =
          llvm::Constant::getNullValue(function.scalars.registerType(elementOf(operand)));
      const auto look = [&](llvm::ArrayRef<Index> place, const Carried& running) -> Carried {
        llvm::SmallVector<Index> indices;
        llvm::Value* isInside = b.getTrue();
        for (std::size_t axis = 0; axis < own.size(); ++axis) {
          WindowElement found =
              windowElement(function, window[leading + axis], own[axis], at[axis], place[axis]);
          indices.push_back(std::move(found.index));
          if (found.isInside != nullptr)
            isInside = b.CreateAnd(isInside, found.isInside);
        }
        const Index to = row * size + linearIndex(indices, own);
        llvm::Value* candidate = function.load(operand, to);
        llvm::Value* keeps =
            emitBody(function.scalars, op.getSelect(), {running[1], candidate}, ofSelect).front();
        keeps = b.CreateAnd(keeps, b.CreateICmpSGE(running[0], b.getInt64(0)));
        llvm::Value* takes = b.CreateAnd(isInside, b.CreateNot(keeps));
        return {b.CreateSelect(takes, function.code(to), running[0]),
                b.CreateSelect(takes, candidate, running[1])};
      };
      const Carried kept = overPlaces(function, sizes, {none, nothing}, look);
      function.when(b.CreateICmpSGE(kept[0], b.getInt64(0)), [&] {
        const std::int64_t all = sizeOf(operand);
        const Index to = Index::variable(function.define(kept[0], all), all);
        llvm::Value* sum =
            emitBody(function.scalars, op.getScatter(),
                     {function.load(result, to), function.element(source, row * windows + number)},
                     ofScatter)
                .front();
        function.store(result, sum, to);
      });
      return {};
    });
  });
  return {function.finish(), rows, size + windows * count(sizes)};
}

} // namespace octavo::compiler
