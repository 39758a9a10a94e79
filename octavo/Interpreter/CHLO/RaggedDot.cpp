// Evaluates chlo.ragged_dot, a dot with groups of indices on one axis, and octavo.rows_of_groups.
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/RowsOfGroups.h"
#include "octavo/Interpreter/CHLO/CHLO.h"
#include "octavo/Interpreter/Products/DotGeneral.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include <algorithm>
#include <cstring>

namespace octavo::interpreter {

namespace {

using Mode = chlo::RaggedDotOp::Mode;

/// The ranges of the groups on the ragged axis: for each index of the prefix axes, row-major, g
/// consecutive ranges [start, end), cut at the end of the axis.
struct Groups {
  std::int64_t count = 0;
  std::vector<std::int64_t> prefix; ///< extents; empty if all indices share the ranges
  std::vector<std::int64_t> starts, ends;

  /// The smallest range that contains group `j` for every index of the prefix axes.
  std::pair<std::int64_t, std::int64_t> hull(std::int64_t j) const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    for (auto i = static_cast<std::size_t>(j); i < starts.size();
         i += static_cast<std::size_t>(count))
      if (starts[i] < ends[i]) {
        first = std::min(first, starts[i]);
        last = std::max(last, ends[i]);
      }
    return {std::min(first, last), last};
  }
};

llvm::Expected<Groups> groupsOf(mlir::Operation* op, const Tensor& sizes, std::int64_t extent) {
  Groups groups;
  groups.count = sizes.shape.back();
  groups.prefix.assign(sizes.shape.begin(), sizes.shape.end() - 1);
  const auto width = sizes.type.integer().width;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < sizes.size(); ++i) {
    if (i % groups.count == 0)
      end = 0;
    const std::uint64_t code = sizes.code(i);
    if (!sizes.type.integer().isUnsigned && (code >> (width - 1) & 1) != 0)
      return failure(op, "group sizes must not be negative; that of group " +
                             llvm::Twine(i % groups.count) + " is " +
                             llvm::Twine(llvm::SignExtend64(code, static_cast<unsigned>(width))));
    groups.starts.push_back(end);
    end += static_cast<std::int64_t>(std::min(code, static_cast<std::uint64_t>(extent - end)));
    groups.ends.push_back(end);
  }
  return groups;
}

/// Whether each element of `shape` is in group `j`: whether `first` plus its index along `ragged`
/// is in the range for its prefix index.
Tensor membership(const Groups& groups, std::int64_t j, const std::vector<std::int64_t>& shape,
                  llvm::ArrayRef<std::int64_t> prefixAxes, std::int64_t ragged,
                  std::int64_t first) {
  Tensor mask = Tensor::zeros(kBoolean, shape);
  if (mask.size() == 0)
    return mask;
  std::vector<std::int64_t> index(shape.size(), 0);
  const auto target = mask.as<std::uint8_t>();
  std::size_t at = 0;
  do {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < groups.prefix.size(); ++i)
      place = place * groups.prefix[i] + index[prefixAxes[i]];
    const auto run = static_cast<std::size_t>(place * groups.count + j);
    const std::int64_t found = first + index[ragged];
    target[at++] = groups.starts[run] <= found && found < groups.ends[run];
  } while (nextIndex(index, shape));
  return mask;
}

Tensor part(const Tensor& tensor, std::int64_t axis, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> start(tensor.shape.size(), 0), limit = tensor.shape;
  start[axis] = first;
  limit[axis] = last;
  return slice(tensor, start, limit, std::vector<std::int64_t>(tensor.shape.size(), 1));
}

class RaggedDot {
public:
  RaggedDot(chlo::RaggedDotOp op, Groups groups, ElementType result)
      : groups(std::move(groups)), prefixAxes(op.prefixAxes()),
        ragged(op.getRaggedDotDimensionNumbers().getLhsRaggedDimensions().front()),
        result(std::move(result)) {
    const auto numbers = op.getRaggedDotDimensionNumbers();
    dimensions = {.lhsBatch = numbers.getLhsBatchingDimensions().vec(),
                  .rhsBatch = numbers.getRhsBatchingDimensions().vec(),
                  .lhsContracting = numbers.getLhsContractingDimensions().vec(),
                  .rhsContracting = numbers.getRhsContractingDimensions().vec()};
  }

  Tensor plain(const Tensor& lhs, const Tensor& rhs) const { return dot(lhs, rhs, dimensions); }

  /// Multiplies each row by its group's part of rhs. Rows that are in no group stay 0.
  Tensor free(const Tensor& lhs, const Tensor& rhs, std::int64_t groupAxis,
              std::vector<std::int64_t> shape) const {
    // The result's axes begin with the prefix axes and then the ragged axis.
    std::vector<std::int64_t> leading(prefixAxes.size());
    for (std::size_t i = 0; i < leading.size(); ++i)
      leading[i] = static_cast<std::int64_t>(i);
    const auto row = static_cast<std::int64_t>(prefixAxes.size());
    const DotDimensions withoutGroup = [&] {
      DotDimensions d = dimensions;
      for (auto* axes : {&d.rhsBatch, &d.rhsContracting})
        for (std::int64_t& axis : *axes)
          axis -= axis > groupAxis ? 1 : 0;
      return d;
    }();
    Tensor product = Tensor::zeros(result, shape);
    const Tensor zero = Tensor::zeros(result, {});
    const std::vector<std::int64_t> none(shape.size(), 0);
    for (std::int64_t j = 0; j < groups.count; ++j) {
      const auto [first, last] = groups.hull(j);
      if (first == last)
        continue;
      Tensor weights = part(rhs, groupAxis, j, j + 1);
      std::vector<std::int64_t> weightShape = weights.shape;
      weightShape.erase(weightShape.begin() + groupAxis);
      const Tensor rows = dot(part(lhs, ragged, first, last),
                              reshape(std::move(weights), std::move(weightShape)), withoutGroup);
      std::vector<std::int64_t> low = none, high = none;
      low[row] = first;
      high[row] = shape[row] - last;
      product = select(membership(groups, j, shape, leading, row, 0),
                       pad(rows, zero, low, high, none), std::move(product));
    }
    return product;
  }

  /// One product for each group, along a new first axis.
  Tensor contracting(const Tensor& lhs, const Tensor& rhs) const {
    const auto position = static_cast<std::size_t>(llvm::find(dimensions.lhsContracting, ragged) -
                                                   dimensions.lhsContracting.begin());
    const std::int64_t raggedOfRhs = dimensions.rhsContracting[position];
    std::vector<Tensor> products;
    for (std::int64_t j = 0; j < groups.count; ++j) {
      const auto [first, last] = groups.hull(j);
      Tensor left = part(lhs, ragged, first, last);
      Tensor right = part(rhs, raggedOfRhs, first, last);
      if (!groups.prefix.empty()) {
        // Elements outside the group are 0 in both operands, because they can be infinite.
        std::vector<std::int64_t> rhsPrefix;
        for (const std::int64_t axis : prefixAxes)
          rhsPrefix.push_back(counterpart(axis));
        left = select(membership(groups, j, left.shape, prefixAxes, ragged, first), left,
                      Tensor::zeros(left.type, left.shape));
        right = select(membership(groups, j, right.shape, rhsPrefix, raggedOfRhs, first), right,
                       Tensor::zeros(right.type, right.shape));
      }
      Tensor product = dot(left, right, dimensions);
      std::vector<std::int64_t> shape = product.shape;
      shape.insert(shape.begin(), 1);
      products.push_back(reshape(std::move(product), std::move(shape)));
    }
    if (products.empty()) {
      std::vector<std::int64_t> shape = dotShape(lhs.shape, rhs.shape, dimensions);
      shape.insert(shape.begin(), 0);
      return Tensor::zeros(result, std::move(shape));
    }
    std::vector<const Tensor*> inputs;
    for (const Tensor& product : products)
      inputs.push_back(&product);
    return concatenate(inputs, 0);
  }

private:
  Tensor dot(const Tensor& lhs, const Tensor& rhs, const DotDimensions& by) const {
    return dotGeneral(lhs, rhs, by, result, defaultAccumulation(lhs.type, rhs.type, result));
  }

  /// The axis of rhs that is paired with a batching or contracting axis of lhs.
  std::int64_t counterpart(std::int64_t axis) const {
    const auto batch = llvm::find(dimensions.lhsBatch, axis);
    if (batch != dimensions.lhsBatch.end())
      return dimensions.rhsBatch[static_cast<std::size_t>(batch - dimensions.lhsBatch.begin())];
    const auto contracting = llvm::find(dimensions.lhsContracting, axis);
    return dimensions
        .rhsContracting[static_cast<std::size_t>(contracting - dimensions.lhsContracting.begin())];
  }

  Groups groups;
  DotDimensions dimensions;
  llvm::SmallVector<std::int64_t> prefixAxes;
  std::int64_t ragged;
  ElementType result;
};

/// The shape of the result, from the operands: types can have unknown extents.
llvm::Expected<std::vector<std::int64_t>> resultShapeOf(chlo::RaggedDotOp op, const Tensor& lhs,
                                                        const Tensor& rhs, const Tensor& sizes) {
  const auto numbers = op.getRaggedDotDimensionNumbers();
  DotDimensions dimensions{.lhsBatch = numbers.getLhsBatchingDimensions().vec(),
                           .rhsBatch = numbers.getRhsBatchingDimensions().vec(),
                           .lhsContracting = numbers.getLhsContractingDimensions().vec(),
                           .rhsContracting = numbers.getRhsContractingDimensions().vec()};
  if (!haveEqualPairs(lhs.shape, rhs.shape, dimensions))
    return failure(op, "pairs axes of different extents; found " + describe(Value(lhs)) + " and " +
                           describe(Value(rhs)));
  const auto prefix = op.prefixAxes();
  bool fits = sizes.shape.size() == 1 || sizes.shape.size() == prefix.size() + 1;
  for (std::size_t i = 0; fits && i + 1 < sizes.shape.size(); ++i)
    fits = sizes.shape[i] == lhs.shape[prefix[i]];
  const auto group = numbers.getRhsGroupDimensions();
  if (!fits || (!group.empty() && rhs.shape[group.front()] != sizes.shape.back()))
    return failure(op, "group_sizes " + describe(Value(sizes)) + " do not fit " +
                           describe(Value(lhs)) + " and " + describe(Value(rhs)));
  // The group axis of rhs does not appear in the result.
  std::vector<std::int64_t> weights = rhs.shape;
  for (const std::int64_t axis : group) {
    weights.erase(weights.begin() + axis);
    for (auto* axes : {&dimensions.rhsBatch, &dimensions.rhsContracting})
      for (std::int64_t& other : *axes)
        other -= other > axis ? 1 : 0;
  }
  std::vector<std::int64_t> shape = dotShape(lhs.shape, weights, dimensions);
  if (op.mode() == Mode::Contracting)
    shape.insert(shape.begin(), sizes.shape.back());
  if (llvm::Error error = checkSize(op, shape))
    return std::move(error);
  return shape;
}

llvm::Expected<Value> evaluateRaggedDot(chlo::RaggedDotOp op, const Operands& operands,
                                        Evaluation&) {
  const Tensor& lhs = operands[0].tensor();
  const Tensor& rhs = operands[1].tensor();
  const Tensor& sizes = operands[2].tensor();
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  llvm::Expected<std::vector<std::int64_t>> shape = resultShapeOf(op, lhs, rhs, sizes);
  if (!shape)
    return shape.takeError();
  const auto numbers = op.getRaggedDotDimensionNumbers();
  llvm::Expected<Groups> groups =
      groupsOf(op, sizes, lhs.shape[numbers.getLhsRaggedDimensions().front()]);
  if (!groups)
    return groups.takeError();
  const RaggedDot ragged(op, std::move(*groups), *type);
  switch (op.mode()) {
  case Mode::Free:
    return Value(ragged.free(lhs, rhs, numbers.getRhsGroupDimensions().front(), *shape));
  case Mode::Contracting:
    return Value(ragged.contracting(lhs, rhs));
  case Mode::Batching:
    return Value(ragged.plain(lhs, rhs));
  }
  llvm_unreachable("a mode that is none");
}

llvm::Expected<Value> evaluateRowsOfGroups(ir::RowsOfGroupsOp op, const Operands& operands,
                                           Evaluation&) {
  const Tensor& all = operands[0].tensor();
  const std::int64_t rows = all.shape[0], count = all.shape[1];
  if (operands[1].tensor().shape[0] != count)
    return failure(op,
                   "group_sizes " + describe(operands[1]) + " do not fit " + describe(operands[0]));
  llvm::Expected<Groups> groups = groupsOf(op, operands[1].tensor(), rows);
  if (!groups)
    return groups.takeError();
  std::vector<std::int64_t> shape = all.shape;
  shape.erase(shape.begin() + 1);
  Tensor result = Tensor::zeros(all.type, shape);
  if (result.size() == 0)
    return Value(std::move(result));
  const std::size_t bytes = result.bytes.size() / static_cast<std::size_t>(rows);
  for (std::int64_t group = 0; group < count; ++group)
    for (std::int64_t row = groups->starts[group]; row < groups->ends[group]; ++row)
      std::memcpy(result.bytes.data() + static_cast<std::size_t>(row) * bytes,
                  all.bytes.data() + static_cast<std::size_t>(row * count + group) * bytes, bytes);
  return Value(std::move(result));
}

} // namespace

void registerRaggedDot(EvaluatorTable& table) {
  table.add<evaluateRaggedDot>();
  table.add<evaluateRowsOfGroups>();
}

} // namespace octavo::interpreter
