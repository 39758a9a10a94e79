// Formulas on tensors in C++ operators. Each operator writes an elementwise StableHLO operation.
// Numbers become constants of the formula's shape, which may be known only at run time.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace octavo::transforms {

/// `type` with another element type.
mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element);

class Term;

/// The place of a formula's operations, and the shape of its tensors.
class Formula {
public:
  /// All tensors have one shape; `operands` and the type `result` may each leave part of it open.
  Formula(mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange operands,
          mlir::RankedTensorType result);

  /// Operand `i`, not converted.
  Term operand(unsigned i);
  /// Float operand `i`, converted to f32 if narrower.
  Term wideOperand(unsigned i);
  /// `term`, its elements converted to the type of the result.
  mlir::Value result(Term term);

  Term constant(double number, mlir::Type element);
  Term constant(mlir::TypedAttr number);
  Term write(llvm::StringRef operation, llvm::ArrayRef<Term> operands, mlir::Type element);
  /// The tensor type of the formula's shape with this element type.
  mlir::RankedTensorType type(mlir::Type element) const;

  mlir::OpBuilder& builder;
  const mlir::Location at;

private:
  const mlir::ValueRange operands;
  const mlir::RankedTensorType resultType;
  mlir::RankedTensorType shape;
  mlir::Value dynamicShape; ///< shape operand, made when a constant first needs it
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

/// A tensor in a formula.
class Term {
public:
  Term(Formula& formula, mlir::Value value) : at(&formula), tensor(value) {}

  mlir::Value value() const { return tensor; }
  Formula& formula() const { return *at; }
  mlir::Type element() const;
  /// Whether the element type, or that of a complex's parts, is f64.
  bool isF64() const;
  /// The number for this element type.
  double choose(double f32, double f64) const { return isF64() ? f64 : f32; }
  /// A constant of this type.
  Term number(double number) const { return at->constant(number, element()); }
  /// The largest number of the element type, f64 or f32; below, its epsilon.
  double largest() const;
  double epsilon() const;

private:
  Formula* at;
  mlir::Value tensor;
};

/// A term, or a number that becomes a constant of the other operand's type.
class TermOrNumber {
public:
  TermOrNumber(Term term) : given(term) {}
  TermOrNumber(double number) : number(number) {}
  Term like(Term other) const { return given ? *given : other.number(number); }
  const std::optional<Term>& term() const { return given; }

private:
  std::optional<Term> given;
  double number = 0.0;
};

Term operator+(TermOrNumber x, TermOrNumber y);
Term operator-(TermOrNumber x, TermOrNumber y);
Term operator*(TermOrNumber x, TermOrNumber y);
Term operator/(TermOrNumber x, TermOrNumber y);
Term operator-(Term x);

/// Comparisons. With NaN, false except !=.
Term operator<(TermOrNumber x, TermOrNumber y);
Term operator<=(TermOrNumber x, TermOrNumber y);
Term operator>(TermOrNumber x, TermOrNumber y);
Term operator>=(TermOrNumber x, TermOrNumber y);
Term operator==(TermOrNumber x, TermOrNumber y);
Term operator!=(TermOrNumber x, TermOrNumber y);

/// For booleans and integers.
Term operator&(Term x, Term y);
Term operator|(Term x, Term y);

Term select(Term condition, TermOrNumber then, TermOrNumber otherwise);
Term select(Term condition, double then, double otherwise) = delete; // of which type?
Term minimum(TermOrNumber x, TermOrNumber y);
Term maximum(TermOrNumber x, TermOrNumber y);
Term power(TermOrNumber x, TermOrNumber y);
Term atan2(TermOrNumber y, TermOrNumber x);

Term abs(Term x);
Term sign(Term x); ///< zeros and NaN are kept
Term floor(Term x);
Term roundToEven(Term x);
Term sqrt(Term x);
Term exp(Term x);
Term expm1(Term x);
Term log(Term x);
Term log1p(Term x);
Term sin(Term x);
Term cos(Term x);
Term tan(Term x);

Term complex(Term real, Term imaginary);
Term real(Term x);
Term imaginary(Term x);
/// sqrt(x^2 + y^2); overflows only if the result is beyond the largest number.
Term hypot(Term x, Term y);

Term convert(Term x, mlir::Type element);
/// The bits as another element type of the same width.
Term bitcast(Term x, mlir::Type element);
/// Whether the sign bit is set, also for zeros and NaN. The format has a sign and a width of whole
/// bytes.
Term hasSign(Term x);
/// `magnitude` with the sign of `of`.
Term withSign(Term magnitude, Term of);
Term isInfinite(Term x);
/// For integers.
Term shiftLeft(Term x, TermOrNumber bits);
Term shiftRightLogical(Term x, TermOrNumber bits);
Term shiftRightArithmetic(Term x, TermOrNumber bits);

/// The coefficients of an approximation, for f32 and for f64.
struct Coefficients {
  llvm::ArrayRef<double> f32, f64;
};

/// sum of c[k] x^k, by Horner's scheme.
Term polynomial(const Coefficients& coefficients, Term x);
/// sum of c[k] T_k(x) for |x| <= 1, by Clenshaw's scheme.
Term chebyshev(const Coefficients& coefficients, Term x);

} // namespace octavo::transforms
