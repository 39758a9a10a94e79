#include "octavo/Transforms/Quantize/CalibrationProbes.h"

#include "octavo/Dialect/Interpreter/Interpreter.h"
#include "octavo/Transforms/Legalize/ConvolutionDots.h"
#include "octavo/Transforms/Legalize/RaggedDots.h"
#include "octavo/Transforms/Quantize/DotChoice.h"
#include "octavo/Transforms/Quantize/ProbeDots.h"
#include "octavo/Transforms/Quantize/StaticScales.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

llvm::Expected<std::vector<CalibratedSide>>
addCalibrationProbes(mlir::ModuleOp module, const CalibrationProbeOptions& options) {
  DotOptions dotOptions;
  dotOptions.weights = format::findScaledFormat("fp8_tensor"); // DotChoice needs a format; nothing
                                                               // is quantized
  dotOptions.parameters = options.parameters;
  llvm::Expected<DotChoice> choice = DotChoice::make(dotOptions);
  if (!choice)
    return choice.takeError();
  struct Input {
    mlir::Value value;
    std::vector<std::vector<bool>> seen;
  };
  llvm::DenseMap<mlir::Operation*, Input> inputs; // of convolutions; keys: their dots
  for (ConvolutionDot& each : writeConvolutionDots(module).written) {
    inputs[each.dot()] = {each.input(), each.seenOfInput()};
    each.finish();
  }
  for (DotOfGroups& each : writeRaggedDots(module)) {
    each.leaveOutRowsOfNone();
    each.finish();
  }
  choice->take(module);
  module.getContext()->getOrLoadDialect<interpreter::InterpreterDialect>();
  std::vector<Dot> dots;
  module.walk([&](stablehlo::DotGeneralOp op) { dots.push_back(choice->describe(op)); });
  const std::vector<std::string> names = calibratedNames(dots);
  std::vector<CalibratedSide> probed;
  std::size_t tensors = 0;
  bool hasActivations = false;
  for (const auto& [dot, name] : llvm::zip_equal(dots, names))
    for (const DotSide& side : dot.sides) {
      const mlir::Type element = side.type().getElementType();
      if ((side.isWeight() && !options.takesWeights) ||
          !(element.isF32() || element.isBF16() || element.isF16()))
        continue;
      hasActivations |= !side.isWeight();
      stablehlo::DotGeneralOp op = dot.op();
      mlir::OpBuilder builder(op);
      CalibratedSide part{.dot = name,
                          .side = side.index == 0 ? "lhs" : "rhs",
                          .contracting = {side.contracting.begin(), side.contracting.end()},
                          .tensor = tensors++};
      const auto probe = [&](mlir::Value value) {
        interpreter::ProbeOp::create(
            builder, op.getLoc(), value,
            dotProbeName(probed.size(), side.index == 0 ? DotValue::Lhs : DotValue::Rhs));
        probed.push_back(part);
      };
      if (const auto found = inputs.find(op); side.index == 0 && found != inputs.end()) {
        part.part = CalibratedSide::Part::Columns;
        probe(side.value());
        part.part = CalibratedSide::Part::Values;
        part.contracting.clear();
        part.seen = found->second.seen;
        probe(found->second.value);
      } else {
        probe(side.value());
      }
    }
  if (!hasActivations)
    return llvm::createStringError("it has no dot with activations of f32, bf16 or f16: there is "
                                   "nothing to calibrate");
  return probed;
}

} // namespace octavo::transforms
