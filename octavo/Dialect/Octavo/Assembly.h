// The parse* and print* functions of each `custom<...>` in the assembly formats of Octavo.td.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/IR/OpImplementation.h"

namespace octavo::ir {

/// `, rule = floor, rounding = toward-zero`
mlir::ParseResult parseQuantization(mlir::OpAsmParser& parser, QuantizationAttr& attribute);
void printQuantization(mlir::OpAsmPrinter& printer, mlir::Operation* op,
                       QuantizationAttr attribute);

/// `, rounding = toward-zero, overflow = saturate`
mlir::ParseResult parseConversion(mlir::OpAsmParser& parser, ConversionAttr& attribute);
void printConversion(mlir::OpAsmPrinter& printer, mlir::Operation* op, ConversionAttr attribute);

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1], accumulation = f32`. The first and the
/// last are optional.
mlir::ParseResult parseScaledDot(mlir::OpAsmParser& parser,
                                 stablehlo::DotDimensionNumbersAttr& dimensions,
                                 mlir::TypeAttr& accumulation);
void printScaledDot(mlir::OpAsmPrinter& printer, mlir::Operation* op,
                    stablehlo::DotDimensionNumbersAttr dimensions, mlir::TypeAttr accumulation);

} // namespace octavo::ir
