// Formulas on tensors, written with C++'s operators: each writes its operation of StableHLO,
// element by element, into the program. Numbers among the operands become constants of the shape,
// which may be known only at run time.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace octavo::transforms {

/// The type with elements of another.
mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element);

class Term;

/// Where the operations of a formula go, and the shape that its tensors have.
class Formula {
public:
  /// For tensors of one shape, which `operands` and the type of the result may each leave partly
  /// open.
  Formula(mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange operands,
          mlir::RankedTensorType result);

  /// An operand as it is.
  Term operand(unsigned i);
  /// An operand of floats, those narrower than f32 as f32.
  Term wideOperand(unsigned i);
  /// The term as a value of the type of the result, its elements converted.
  mlir::Value result(Term term);

  Term constant(double number, mlir::Type element);
  Term constant(mlir::TypedAttr number);
  Term write(llvm::StringRef operation, llvm::ArrayRef<Term> operands, mlir::Type element);
  /// `element` with the shape.
  mlir::RankedTensorType type(mlir::Type element) const;

  mlir::OpBuilder& builder;
  const mlir::Location at;

private:
  const mlir::ValueRange operands;
  const mlir::RankedTensorType resultType;
  mlir::RankedTensorType shape;
  mlir::Value dynamicShape; ///< as an operand, once a constant has needed it
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

/// A tensor in a formula.
class Term {
public:
  Term(Formula& formula, mlir::Value value) : at(&formula), tensor(value) {}

  mlir::Value value() const { return tensor; }
  Formula& formula() const { return *at; }
  mlir::Type element() const;
  /// Of the parts, where it is complex.
  bool isF64() const;
  /// The number for this type.
  double choose(double f32, double f64) const { return isF64() ? f64 : f32; }
  /// A constant of this type.
  Term number(double number) const { return at->constant(number, element()); }
  /// f64's or f32's.
  double largest() const;
  double epsilon() const;

private:
  Formula* at;
  mlir::Value tensor;
};

/// A term, or a number that becomes a constant of the type of the other operand.
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

/// Comparisons; of floats false with NaN, but for !=.
Term operator<(TermOrNumber x, TermOrNumber y);
Term operator<=(TermOrNumber x, TermOrNumber y);
Term operator>(TermOrNumber x, TermOrNumber y);
Term operator>=(TermOrNumber x, TermOrNumber y);
Term operator==(TermOrNumber x, TermOrNumber y);
Term operator!=(TermOrNumber x, TermOrNumber y);

/// Of booleans and integers.
Term operator&(Term x, Term y);
Term operator|(Term x, Term y);

Term select(Term condition, TermOrNumber then, TermOrNumber otherwise);
Term select(Term condition, double then, double otherwise) = delete; // of which type?
Term minimum(TermOrNumber x, TermOrNumber y);
Term maximum(TermOrNumber x, TermOrNumber y);
Term power(TermOrNumber x, TermOrNumber y);
Term atan2(TermOrNumber y, TermOrNumber x);

Term abs(Term x);
Term sign(Term x); ///< zeros and NaN as they are
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
/// sqrt(x^2 + y^2), which overflows only where it is beyond the largest number.
Term hypot(Term x, Term y);

Term convert(Term x, mlir::Type element);
/// The bits as an element of the same width.
Term bitcast(Term x, mlir::Type element);
/// Of floats with a sign and a width of whole bytes: of zeros and NaN too.
Term hasSign(Term x);
/// A magnitude with the sign of `of`.
Term withSign(Term magnitude, Term of);
Term isInfinite(Term x);
/// Of integers.
Term shiftLeft(Term x, TermOrNumber bits);
Term shiftRightLogical(Term x, TermOrNumber bits);
Term shiftRightArithmetic(Term x, TermOrNumber bits);

/// The coefficients of an approximation, for f32 and for f64.
struct Coefficients {
  llvm::ArrayRef<double> f32, f64;
};

/// sum of c[k] x^k, by Horner's scheme.
Term polynomial(const Coefficients& coefficients, Term x);
/// sum of c[k] T_k(x) for |x| <= 1, by Clenshaw's.
Term chebyshev(const Coefficients& coefficients, Term x);

} // namespace octavo::transforms
