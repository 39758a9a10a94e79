// Windows family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Dialect/StableHLO/Assembly.h"
#include "octavo/Dialect/StableHLO/Convolution.h"
#include "octavo/Dialect/StableHLO/Reducer.h"
#include "octavo/Dialect/StableHLO/WindowShape.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Windows.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerWindows() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Windows.cpp.inc"
      >();
}

using llvm::LogicalResult;
using mlir::RankedTensorType;

LogicalResult ConvolutionOp::verify() {
  return verifyConvolution(*this,
                           {getWindowStrides(), getLhsDilation(), getRhsDilation(),
                            getWindowReversal(), getPadding(), getDimensionNumbers(),
                            static_cast<std::int64_t>(getFeatureGroupCount()),
                            static_cast<std::int64_t>(getBatchGroupCount()), getPrecisionConfig()},
                           getLhs().getType(), getRhs().getType(), getType(), true);
}

LogicalResult ReduceWindowOp::verify() {
  static constexpr WindowRules kRules{.sizes = {"window_dimensions", "C4", "C5"},
                                      .strides = {"window_strides", "C6", "C7"},
                                      .baseDilations = {"base_dilations", "C8", "C9"},
                                      .windowDilations = {"window_dilations", "C10", "C11"},
                                      .padding = "C12"};
  const Checker check(*this);
  const std::size_t count = getInputs().size();
  if (count == 0 || getNumOperands() != 2 * count || getNumResults() != count)
    return check.violated("C1",
                          "inputs, init_values and results must be as many, and at least one; "
                          "found ",
                          getNumOperands(), " operands and ", getNumResults(), " results");
  const RankedTensorType first = tensorType(getInputs().front());
  if (failed(
          check.oneEach("C4", "window_dimensions", getWindowDimensions(), first.getRank(), "axes")))
    return mlir::failure();
  const llvm::FailureOr<Window> window = verifyWindow(check, kRules, first.getRank(),
                                                      {.sizes = getWindowDimensions(),
                                                       .strides = getWindowStrides(),
                                                       .baseDilations = getBaseDilations(),
                                                       .windowDilations = getWindowDilations(),
                                                       .padding = getPadding()});
  if (failed(window))
    return mlir::failure();
  const llvm::FailureOr<Extents> shape = windowedExtents(check, "C15", extentsOf(first), *window);
  if (failed(shape))
    return mlir::failure();
  for (std::size_t k = 0; k < count; ++k) {
    const RankedTensorType input = tensorType(getInputs()[k]);
    const RankedTensorType init = tensorType(getInitValues()[k]);
    const auto result = llvm::cast<RankedTensorType>(getResult(k).getType());
    if (!isCompatibleShape(input, first))
      return check.violated("C2", "inputs must have one shape; input ", k, " has ",
                            spell(extentsOf(input)), ", input 0 has ", spell(extentsOf(first)));
    if (init.getRank() != 0)
      return check.violated("I2", "init_values must be scalars; found ", init);
    if (init.getElementType() != input.getElementType())
      return check.violated("C3", "init value ", k, " must have the input's element type ",
                            input.getElementType(), "; found ", init.getElementType());
    if (!areCompatible(extentsOf(result), *shape))
      return check.violated("C15", "result ", k, " must have the shape ", spell(*shape), "; found ",
                            spell(extentsOf(result)));
  }
  return mlir::success();
}

LogicalResult ReduceWindowOp::verifyRegions() {
  return verifyReducer(*this, getBody(), getInputs().getTypes(), getResultTypes(), "C13", "C16");
}

LogicalResult SelectAndScatterOp::verify() {
  static constexpr WindowRules kRules{.sizes = {"window_dimensions", "C4", "C5"},
                                      .strides = {"window_strides", "C6", "C7"},
                                      .baseDilations = {"", "", ""},
                                      .windowDilations = {"", "", ""},
                                      .padding = "C8"};
  const Checker check(*this);
  const RankedTensorType operand = getOperand().getType(), source = getSource().getType();
  const mlir::Type element = operand.getElementType();
  if (source.getElementType() != element)
    return check.violated("C1", "source must have the operand's element type ", element, "; found ",
                          source.getElementType());
  if (tensorType(getInitValue()).getElementType() != element)
    return check.violated("C3", "init_value must have the operand's element type ", element,
                          "; found ", getInitValue().getType());
  const llvm::ArrayRef<std::int64_t> sizes =
      getWindowDimensions().value_or(llvm::ArrayRef<std::int64_t>());
  if (failed(check.oneEach("C4", "window_dimensions", sizes, operand.getRank(), "axes")))
    return mlir::failure();
  const llvm::FailureOr<Window> window = verifyWindow(check, kRules, operand.getRank(),
                                                      {.sizes = getWindowDimensions(),
                                                       .strides = getWindowStrides(),
                                                       .baseDilations = std::nullopt,
                                                       .windowDilations = std::nullopt,
                                                       .padding = getPadding()});
  if (failed(window))
    return mlir::failure();
  const llvm::FailureOr<Extents> shape = windowedExtents(check, "C2", extentsOf(operand), *window);
  if (failed(shape))
    return mlir::failure();
  if (!areCompatible(extentsOf(source), *shape))
    return check.violated("C2", "source must have an element for each window, ", spell(*shape),
                          "; found ", spell(extentsOf(source)));
  if (!isCompatibleShape(operand, getType()))
    return check.violated("C11", "the result must have the operand's shape ",
                          spell(extentsOf(operand)), "; found ", spell(extentsOf(getType())));
  return mlir::success();
}

LogicalResult SelectAndScatterOp::verifyRegions() {
  const Checker check(*this);
  mlir::Block& block = getSelect().front();
  const mlir::Type scalar = RankedTensorType::get({}, getOperand().getType().getElementType());
  if (block.getNumArguments() != 2 || block.getArgument(0).getType() != scalar ||
      block.getArgument(1).getType() != scalar)
    return check.violated("C9", "select must take two values of type ", scalar, "; it takes ",
                          mlir::TypeRange(block.getArgumentTypes()));
  const mlir::TypeRange returned = block.getTerminator()->getOperandTypes();
  if (returned.size() != 1 || !isScalarTensor(returned.front()) ||
      !isBoolean(llvm::cast<RankedTensorType>(returned.front()).getElementType()))
    return check.violated("C9", "select must return tensor<i1>; found ", returned);
  return verifyReducer(*this, getScatter(), getSource().getType(), getType(), "C10", "C12");
}

namespace {

/// An operand of batch_norm with one number for each feature; it must have the operand's kind of
/// elements.
struct PerFeature {
  llvm::StringRef name;
  mlir::Value value;
  llvm::StringRef rule;
};

/// Verifies feature_index and the operands per feature, and returns the type of such an operand.
llvm::FailureOr<RankedTensorType> verifyBatchNorm(const Checker& check, mlir::Value operand,
                                                  std::int64_t featureIndex,
                                                  llvm::ArrayRef<PerFeature> lists) {
  const RankedTensorType type = tensorType(operand);
  if (failed(check.inside("C1", "feature_index", {featureIndex}, type.getRank(), "the operand")))
    return mlir::failure();
  Extent features = extentsOf(type)[static_cast<std::size_t>(featureIndex)];
  for (const PerFeature& list : lists) {
    const RankedTensorType given = tensorType(list.value);
    if (!haveOneBaselineElement(given.getElementType(), type.getElementType()))
      return check.violated("C2", list.name, " must have the operand's element type ",
                            type.getElementType(), "; found ", given.getElementType());
    if (given.getRank() != 1 || !extentsOf(given).front().isCompatible(features))
      return check.violated(list.rule, list.name, " must have one number for each of the ",
                            features.spell(), " features; found ", given);
    features = features.mostSpecific(extentsOf(given).front());
  }
  return tensorOf(features, type.getElementType());
}

} // namespace

LogicalResult BatchNormGradOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                                Adaptor adaptor, Types& types) {
  const Checker check(location, getOperationName());
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const RankedTensorType gradient = tensorType(adaptor.getGradOutput());
  const llvm::FailureOr<RankedTensorType> list = verifyBatchNorm(
      check, adaptor.getOperand(), static_cast<std::int64_t>(adaptor.getFeatureIndex()),
      {{"scale", adaptor.getScale(), "C5"},
       {"mean", adaptor.getMean(), "C4"},
       {"variance", adaptor.getVariance(), "C4"}});
  if (failed(list))
    return mlir::failure();
  if (!haveOneBaselineElement(gradient.getElementType(), operand.getElementType()))
    return check.violated("C2", "grad_output must have the operand's element type ",
                          operand.getElementType(), "; found ", gradient.getElementType());
  if (!isCompatibleShape(gradient, operand))
    return check.violated("C3", "grad_output must have the operand's shape ",
                          spell(extentsOf(operand)), "; found ", spell(extentsOf(gradient)));
  types.append({operand, *list, *list});
  return mlir::success();
}

LogicalResult BatchNormInferenceOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                                     Adaptor adaptor, Types& types) {
  const llvm::FailureOr<RankedTensorType> list =
      verifyBatchNorm(Checker(location, getOperationName()), adaptor.getOperand(),
                      static_cast<std::int64_t>(adaptor.getFeatureIndex()),
                      {{"scale", adaptor.getScale(), "C3"},
                       {"offset", adaptor.getOffset(), "C4"},
                       {"mean", adaptor.getMean(), "C5"},
                       {"variance", adaptor.getVariance(), "C6"}});
  if (failed(list))
    return mlir::failure();
  types.push_back(adaptor.getOperand().getType());
  return mlir::success();
}

LogicalResult BatchNormTrainingOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                                    Adaptor adaptor, Types& types) {
  const llvm::FailureOr<RankedTensorType> list =
      verifyBatchNorm(Checker(location, getOperationName()), adaptor.getOperand(),
                      static_cast<std::int64_t>(adaptor.getFeatureIndex()),
                      {{"scale", adaptor.getScale(), "C3"}, {"offset", adaptor.getOffset(), "C4"}});
  if (failed(list))
    return mlir::failure();
  types.append({adaptor.getOperand().getType(), *list, *list});
  return mlir::success();
}

} // namespace octavo::stablehlo
