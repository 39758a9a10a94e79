// The text of an operation's options: `, rule = floor, rounding = toward-zero`.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/IR/OpImplementation.h"

namespace octavo::ir {

mlir::ParseResult parseQuantization(mlir::OpAsmParser& parser, QuantizationAttr& attribute);
void printQuantization(mlir::OpAsmPrinter& printer, mlir::Operation* op,
                       QuantizationAttr attribute);

mlir::ParseResult parseConversion(mlir::OpAsmParser& parser, ConversionAttr& attribute);
void printConversion(mlir::OpAsmPrinter& printer, mlir::Operation* op, ConversionAttr attribute);

} // namespace octavo::ir
