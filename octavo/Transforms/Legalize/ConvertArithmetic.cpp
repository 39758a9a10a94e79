#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Transforms/Legalize/RoundingArithmetic.h"
#include "octavo/Transforms/Legalize/ScaleArithmetic.h"

#include <algorithm>

namespace octavo::transforms {

using format::ElementFormat;
using Writer = ArithmeticWriter;

mlir::InFlightDiagnostic emitOpenExtents(mlir::Operation* at, mlir::Type found) {
  return at->emitError() << "octavo-emit takes known extents; found " << found
                         << "; octavo-refine-shapes=types=tensor<8x64xf32>,... makes them known, "
                            "given the types of the arguments";
}

mlir::FailureOr<mlir::Value> emitConvert(mlir::OpBuilder& builder, ir::ConvertOp op) {
  if (op.getOperand().getType() == op.getResult().getType())
    return op.getOperand(); // codes stay, even beyond the limits
  if (!Writer::typeOf(op.getOperand()).hasStaticShape())
    return emitOpenExtents(op, op.getOperand().getType());
  Writer writer(builder, op.getLoc());
  const numerics::Conversion conversion = op.getConversion().getConversion();
  const bool saturates = conversion.overflow == numerics::Overflow::Saturate;
  const mlir::Type to = Writer::typeOf(op.getResult()).getElementType();
  const ElementFormat& format = *elementFormat(to);
  const int width = elementFormat(Writer::typeOf(op.getOperand()).getElementType())->width();
  const auto clamped = [&](mlir::Value value) {
    const double max = numerics::maxValue(format);
    value = writer.write("minimum", {value, writer.number(max, value)});
    return format.isSigned() ? writer.write("maximum", {value, writer.number(-max, value)}) : value;
  };
  // A minimum need not keep the sign of a NaN, which decides its code where there is none.
  const bool isNearest =
      conversion.rounding == numerics::Rounding::TiesToEven &&
      (format.hasNan() || (conversion.nan == numerics::NanCode::NegativeZero && !saturates));
  // f32 holds the limits of all formats but f64.
  mlir::Value value = op.getOperand();
  if (width < 32 && (saturates || !isNearest))
    value = writer.convert(value, builder.getF32Type());
  if (format.width() > std::max(width, 31)) { // the result's type has every value
    value = writer.convert(value, to);
    return saturates ? clamped(value) : value;
  }
  if (isNearest)
    return writer.convert(saturates ? clamped(value) : value, to);
  return asFormat(writer,
                  roundedCodes(writer, floatParts(writer, value), format,
                               {.rounding = conversion.rounding,
                                .overflow = conversion.overflow,
                                .infinite = conversion.overflow,
                                .nan = conversion.nan},
                               op.getRandomBits()),
                  format);
}

} // namespace octavo::transforms
