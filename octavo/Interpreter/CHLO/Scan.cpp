// Evaluates chlo.scan: runs a body on one slice after another.
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Interpreter/CHLO/CHLO.h"
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/Tensor/Movement.h"

namespace octavo::interpreter {

namespace {

std::vector<std::int64_t> withoutAxis(std::vector<std::int64_t> shape, std::int64_t axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}

std::vector<std::int64_t> withAxis(std::vector<std::int64_t> shape, std::int64_t axis,
                                   std::int64_t extent) {
  shape.insert(shape.begin() + axis, extent);
  return shape;
}

/// The slice at `index` of `axis`, without that axis.
Tensor sliceAt(const Tensor& tensor, std::int64_t axis, std::int64_t index) {
  std::vector<std::int64_t> start(tensor.shape.size(), 0), limit = tensor.shape;
  start[axis] = index;
  limit[axis] = index + 1;
  const std::vector<std::int64_t> strides(tensor.shape.size(), 1);
  return reshape(slice(tensor, start, limit, strides), withoutAxis(tensor.shape, axis));
}

/// The number of steps. An error if inputs have different extents along the dimension.
llvm::Expected<std::int64_t> countSteps(chlo::ScanOp op, const Operands& inputs) {
  if (inputs.empty())
    return static_cast<std::int64_t>(*op.getScanDimSize());
  const auto axis = static_cast<std::size_t>(op.getDimension());
  const std::int64_t steps = inputs[0].tensor().shape[axis];
  for (const Value& input : inputs)
    if (input.tensor().shape[axis] != steps)
      return failure(op, "takes inputs of one extent along dimension " + llvm::Twine(axis) +
                             "; found " + describe(inputs[0]) + " and " + describe(input));
  if (op.getScanDimSize() && static_cast<std::int64_t>(*op.getScanDimSize()) != steps)
    return failure(op, "scan_dim_size is " + llvm::Twine(*op.getScanDimSize()) +
                           ", but the inputs have " + llvm::Twine(steps) + " slices");
  return steps;
}

/// Joins the slices of an output along its axis, in order.
llvm::Expected<Value> stacked(chlo::ScanOp op, unsigned output, const std::vector<Tensor>& slices) {
  const auto axis = static_cast<std::int64_t>(op.getDimension());
  if (slices.empty()) { // the type of the body's result gives the shape
    llvm::Expected<TensorShape> slice =
        tensorShape(op, op.getBody().front().getTerminator()->getOperand(output).getType());
    if (!slice)
      return slice.takeError();
    return Value(Tensor::zeros(slice->type, withAxis(slice->shape, axis, 0)));
  }
  std::vector<Tensor> thick;
  for (const Tensor& slice : slices) {
    if (slice.shape != slices.front().shape)
      return failure(op, "body must return slices of one shape for output " + llvm::Twine(output));
    thick.push_back(reshape(slice, withAxis(slice.shape, axis, 1)));
  }
  const std::vector<std::int64_t> whole =
      withAxis(slices.front().shape, axis, static_cast<std::int64_t>(slices.size()));
  if (llvm::Error error = checkSize(op, whole))
    return std::move(error);
  std::vector<const Tensor*> inputs;
  for (const Tensor& slice : thick)
    inputs.push_back(&slice);
  return Value(concatenate(inputs, axis));
}

llvm::Expected<Results> evaluateScan(chlo::ScanOp op, const Operands& operands,
                                     Evaluation& evaluation) {
  const std::size_t inputs = op.getInputs().size(), outputs = op.getOutputs().size();
  const auto axis = static_cast<std::int64_t>(op.getDimension());
  llvm::Expected<std::int64_t> steps = countSteps(op, operands.take_front(inputs));
  if (!steps)
    return steps.takeError();
  Results carries = taken(operands.drop_front(inputs));
  std::vector<std::vector<Tensor>> slices(outputs);
  for (std::int64_t step = 0; step < *steps; ++step) {
    const std::int64_t index = op.getIsReverse() ? *steps - 1 - step : step;
    Results arguments;
    for (const Value& input : operands.take_front(inputs))
      arguments.emplace_back(sliceAt(input.tensor(), axis, index));
    std::move(carries.begin(), carries.end(), std::back_inserter(arguments));
    llvm::Expected<Results> returned = evaluation.region(op.getBody(), std::move(arguments));
    if (!returned)
      return returned.takeError();
    for (std::size_t output = 0; output < outputs; ++output)
      slices[output].push_back((*returned)[output].takeTensor());
    carries.assign(
        std::make_move_iterator(returned->begin() + static_cast<std::ptrdiff_t>(outputs)),
        std::make_move_iterator(returned->end()));
  }
  Results results;
  for (std::size_t output = 0; output < outputs; ++output) {
    if (op.getIsReverse())
      std::reverse(slices[output].begin(), slices[output].end());
    llvm::Expected<Value> whole = stacked(op, static_cast<unsigned>(output), slices[output]);
    if (!whole)
      return whole.takeError();
    results.push_back(std::move(*whole));
  }
  std::move(carries.begin(), carries.end(), std::back_inserter(results));
  return results;
}

} // namespace

void registerScan(EvaluatorTable& table) { table.add<evaluateScan>(); }

} // namespace octavo::interpreter
