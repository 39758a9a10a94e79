// octavo.matmul and octavo.PackedWeight: products with scaled tensors, and their epilogues.
#include "python/bindings/Products.h"

#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/PackedRight.h"
#include "python/bindings/ProductResult.h"
#include "python/bindings/ScaledTensor.h"

#include "octavo/Kernels/Product/Product.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>

namespace octavo::python {

namespace nb = nanobind;
using kernels::PackedOperand;

/// One operand of a product: matrices [batch..., rows, depth], contracted along the last axis.
struct Operand {
  Array elements; ///< codes; f32 values if there are no scales
  std::optional<Array> scales;
  kernels::OperandFormat format;
  Shape block;
  float outer = 1.0f;

  std::int64_t rows() const { return *(elements.shape.end() - 2); }
  std::int64_t depth() const { return elements.shape.back(); }
  std::int64_t matrices() const {
    const std::int64_t area = rows() * depth();
    return area == 0 ? 0 : static_cast<std::int64_t>(elements.size()) / area;
  }
};

/// The operand of a tensor that a product contracts along its last axis. Raises ShapeError if
/// blocks lie along a leading axis.
static Operand scaledOperand(const ScaledTensor& tensor, std::string_view name) {
  const std::size_t rank = tensor.shape().size();
  const Shape& block = tensor.type.block;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis)
    if (block[axis] != 1 && block[axis] != tensor.shape()[axis])
      raise(ErrorClass::Shape, "{}: blocks of {} lie along axis {}, which is not contracted", name,
            block[axis], axis);
  return {.elements = contiguous(tensor.elements),
          .scales = contiguous(tensor.scales),
          .format = {tensor.type.element, tensor.type.scale, block[rank - 2], block[rank - 1]},
          .block = block,
          .outer = tensor.outer};
}

static Operand floatOperand(const Array& array) {
  return {
      .elements = contiguous(array), .scales = {}, .format = kernels::floatOperand(), .block = {}};
}

/// Matrix `index` of the operand in the layout of the product kernels.
static PackedOperand packed(const Operand& operand, std::int64_t index, kernels::Side side,
                            const kernels::ProductPlan& plan) {
  const std::int64_t area = operand.rows() * operand.depth();
  const std::byte* elements =
      operand.elements.data + index * area * operand.format.element->bytes();
  if (!operand.scales)
    return kernels::pack(
        std::span(reinterpret_cast<const float*>(elements), static_cast<std::size_t>(area)), plan,
        execution());
  const Shape& grid = operand.scales->shape;
  const std::int64_t perMatrix = *(grid.end() - 2) * grid.back();
  // Matrices along a leading axis that one block spans share its scales.
  std::int64_t scales = 0, rest = index, stride = perMatrix;
  for (std::size_t axis = grid.size() - 2; axis-- > 0;) {
    const std::int64_t extent = operand.elements.shape[axis];
    if (grid[axis] > 1)
      scales += rest % extent * stride;
    rest /= extent;
    stride *= grid[axis];
  }
  // The caller may have written to the elements' memory since the tensor was checked.
  const auto n = static_cast<std::size_t>(area);
  if (const std::size_t at = firstNoCode(elements, n, *operand.format.element); at < n)
    raise(ErrorClass::Format,
          "matmul: the elements of a ScaledTensor were written to: 0x{:02x} is not a code of {}",
          std::to_integer<int>(elements[at]), operand.format.element->name);
  const int scaleBytes = operand.format.scale->bytes();
  return kernels::pack(
      kernels::ScaledView{.element = operand.format.element,
                          .scale = operand.format.scale,
                          .rows = operand.rows(),
                          .depth = operand.depth(),
                          .across = operand.format.across,
                          .along = operand.format.along,
                          .elements = reinterpret_cast<const std::uint8_t*>(elements),
                          .scales = operand.scales->data + scales * scaleBytes,
                          .scaleBytes = scaleBytes,
                          .outer = operand.outer},
      side, plan, execution());
}

/// The leading axes of both operands, broadcast by NumPy's rules. Raises ShapeError.
static Shape broadcast(const Operand& a, const Operand& b) {
  const Shape &x = a.elements.shape, &y = b.elements.shape;
  const std::size_t rank = std::max(x.size(), y.size()) - 2;
  Shape batch(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto at = [&](const Shape& shape) {
      return i + shape.size() < rank + 2 ? 1 : shape[i + shape.size() - rank - 2];
    };
    if (at(x) != at(y) && at(x) != 1 && at(y) != 1)
      raise(ErrorClass::Shape, "matmul: leading axes of {} and {} do not broadcast", text(x),
            text(y));
    batch[i] = at(x) == 1 ? at(y) : at(x);
  }
  return batch;
}

/// The index of the operand's matrix that stands at `index` of the broadcast batch.
static std::int64_t matrixOf(const Operand& operand, const Shape& batch, std::int64_t index) {
  const Shape& shape = operand.elements.shape;
  std::int64_t result = 0, stride = 1;
  for (std::size_t i = batch.size(); i-- > 0;) {
    if (i + shape.size() >= batch.size() + 2) {
      const std::int64_t extent = shape[i + shape.size() - batch.size() - 2];
      result += extent == 1 ? 0 : index % batch[i] * stride;
      stride *= extent;
    }
    index /= batch[i];
  }
  return result;
}

/// The packed right operand: the one of the last product if it has the same key, else a new one
/// that `kept` keeps. Without `kept` it is packed anew.
static std::shared_ptr<const PackedOperand> keptRight(const Operand& right, PackedRight* kept,
                                                      bool alongAxis,
                                                      const kernels::ProductPlan& plan) {
  if (!kept)
    return std::make_shared<PackedOperand>(packed(right, 0, kernels::Side::Right, plan));
  const PackedRightKey key = {plan.left.element, plan.left.scale, plan.left.along, alongAxis};
  const std::lock_guard lock(kept->mutex);
  if (!kept->operand || kept->key != key) {
    kept->operand = std::make_shared<PackedOperand>(packed(right, 0, kernels::Side::Right, plan));
    kept->key = key;
  }
  return kept->operand;
}

/// The shape of left * right^T for matrices [..., M, K] and [..., N, K].
static Shape productShape(const Operand& left, const Operand& right) {
  Shape shape = broadcast(left, right);
  shape.insert(shape.end(), {left.rows(), right.rows()});
  return shape;
}

/// Computes left * right^T into `result` for one right matrix. The caller does not hold Python's
/// lock.
static void multiplyByOne(const Operand& left, const PackedOperand& right,
                          const kernels::ProductPlan& plan, ProductResult& result) {
  std::vector<PackedOperand> lefts;
  for (std::int64_t i = 0; i < result.products(); ++i)
    lefts.push_back(packed(left, i, kernels::Side::Left, plan));
  kernels::multiply(plan, lefts, std::span(&right, 1), result.data(), result.epilogue(),
                    execution());
}

/// Computes left * right^T into `result`. `kept` is the right tensor's cache of its packing; may be
/// null.
static void multiply(const Operand& left, const Operand& right, PackedRight* kept, bool alongAxis,
                     const kernels::ProductPlan& plan, ProductResult& result) {
  if (result.isEmpty())
    return;
  const Shape batch = broadcast(left, right);
  withoutLock([&] {
    if (right.matrices() == 1) {
      const auto packedRight = keptRight(right, kept, alongAxis, plan);
      return multiplyByOne(left, *packedRight, plan, result);
    }
    for (std::int64_t i = 0; i < result.products(); ++i) {
      const PackedOperand each[] = {
          packed(left, matrixOf(left, batch, i), kernels::Side::Left, plan),
          packed(right, matrixOf(right, batch, i), kernels::Side::Right, plan)};
      float amax = 0;
      kernels::multiply(plan, std::span(&each[0], 1), std::span(&each[1], 1), result.dataOf(i),
                        result.epilogueOf(i, amax), execution());
      result.gatherAmax(amax);
    }
  });
}

/// The array as f32. Raises ShapeError if it has fewer than two axes.
static Array matrixArray(nb::handle object, std::string_view name) {
  const Array array = toArray(object, name);
  if (array.shape.size() < 2)
    raise(ErrorClass::Shape, "{}: expected two axes or more, found shape {}; x[None, :] adds one",
          name, text(array.shape));
  return asFloats(array, name);
}

static Array swapped(const Array& array) {
  return toArray(array.numpy.attr("swapaxes")(-1, -2), "array");
}

static void checkDepth(const Shape& a, const Shape& b) {
  if (a.back() != *(b.end() - 2))
    raise(ErrorClass::Shape,
          "matmul: {} and {} do not fit: the last axis of a is {} long, the one "
          "before the last of b {}",
          text(a), text(b), a.back(), *(b.end() - 2));
}

static EpilogueArguments nothingFollows() {
  return {.addend = nb::none(), .bias = nb::none(), .residual = nb::none(), .to = nb::str("f32")};
}

/// Applies the epilogue to sums that NumPy or a transposed product computed.
static nb::object finished(const nb::object& sums, const EpilogueArguments& arguments) {
  const Array array = toArray(sums, "matmul");
  ProductResult result(arguments, array.shape);
  if (result.isPlain())
    return result.toPython(array);
  result.fill(contiguous(array));
  return result.toPython();
}

static nb::object numpyProduct(const nb::object& a, const nb::object& b) {
  return nb::module_::import_("numpy").attr("matmul")(a, b);
}

static nb::object matmulScaled(const ScaledTensor& a, const ScaledTensor& b,
                               const EpilogueArguments& arguments) {
  for (const auto& [name, tensor] : {std::pair("a", &a), std::pair("b", &b)})
    if (tensor->shape().size() < 2)
      raise(ErrorClass::Shape, "{}: expected two axes or more, found shape {}", name,
            text(tensor->shape()));
  checkDepth(a.shape(), b.shape());
  const ScaledTensor right = transposed(b);
  const std::size_t last = right.shape().size() - 1;
  if (a.shape().back() == 0)
    return finished(numpyProduct(dequantize(a).numpy, dequantize(b).numpy), arguments);
  const Operand x = scaledOperand(a, "a"), y = scaledOperand(right, "b");
  const auto plan = kernels::productPlan(x.format, y.format, x.depth(), execution().isa);
  if (!plan) {
    const int wrong = a.axis + 1 != static_cast<int>(a.shape().size()) ? 0
                      : right.axis != static_cast<int>(last)           ? 1
                                                                       : 2;
    if (wrong < 2)
      raise(ErrorClass::Shape,
            "matmul: the blocks of {} lie along axis {}, the product contracts axis {}; quantize "
            "with axis={}",
            wrong ? "b" : "a", wrong ? b.axis : a.axis,
            wrong ? b.shape().size() - 2 : a.shape().size() - 1, wrong ? -2 : -1);
    raise(ErrorClass::Format, "matmul: {}; dequantize() one side", plan.error());
  }
  ProductResult result(arguments, productShape(x, y));
  multiply(x, y, b.packed.get(), right.axis == static_cast<int>(last), *plan, result);
  return result.toPython();
}

/// The product of an array and a tensor; a null object if the kernels have no such product.
static nb::object matmulArray(const Array& a, const ScaledTensor& b,
                              const EpilogueArguments& arguments) {
  const ScaledTensor right = transposed(b);
  if (a.shape.back() == 0)
    return {};
  const bool alongAxis = right.axis + 1 == static_cast<int>(right.shape().size());
  const Operand y = scaledOperand(right, "b");
  const Operand x = floatOperand(a);
  const auto plan = kernels::productPlan(x.format, y.format, y.depth(), execution().isa);
  if (!plan)
    return {};
  ProductResult result(arguments, productShape(x, y));
  multiply(x, y, b.packed.get(), alongAxis, *plan, result);
  return result.toPython();
}

/// octavo.PackedWeight: a right operand that was packed ahead. It does not keep the codes.
struct PackedWeight {
  Shape shape;                      ///< [K, N]
  const format::ScaledFormat* left; ///< of the left operands; null for plain arrays
  kernels::ProductPlan plan;
  PackedOperand operand = {.side = kernels::Side::Right,
                           .storage = PackedOperand::Storage::Records};
};

static std::string_view nameOf(const format::ScaledFormat* left) {
  return left ? std::string_view(left->name) : "f32";
}

static PackedWeight packedWeight(const ScaledTensor& b, nb::handle left) {
  const format::ScaledFormat* leftFormat = nullptr;
  if (!nb::isinstance<nb::str>(left) || nb::cast<std::string>(left) != "f32")
    leftFormat = &scaledFormat(left);
  if (b.shape().size() != 2 || b.shape()[0] == 0)
    raise(ErrorClass::Shape,
          "b: expected a matrix [K, N] with elements along K, found shape {}; pack the matrices of "
          "a batch one by one",
          text(b.shape()));
  const Operand right = scaledOperand(transposed(b), "b");
  const auto plan = kernels::productPlan(leftFormat ? kernels::operandFormat(*leftFormat)
                                                    : kernels::floatOperand(),
                                         right.format, right.depth(), execution().isa);
  if (!plan)
    raise(
        ErrorClass::Format,
        "b: {} times {}: {}; blocks lie along K where a weight [N, K] is quantized along its last "
        "axis and passed as W.T",
        nameOf(leftFormat), b.format ? b.format->name : "the tensor", plan.error());
  PackedWeight weight{.shape = b.shape(), .left = leftFormat, .plan = *plan};
  if (right.matrices() != 0)
    withoutLock([&] { weight.operand = packed(right, 0, kernels::Side::Right, *plan); });
  return weight;
}

static nb::object matmulPacked(nb::handle a, const PackedWeight& b,
                               const EpilogueArguments& arguments) {
  const bool isScaled = nb::isinstance<ScaledTensor>(a);
  if (isScaled && nb::cast<const ScaledTensor&>(a).shape().size() < 2)
    raise(ErrorClass::Shape, "a: expected two axes or more, found shape {}",
          text(nb::cast<const ScaledTensor&>(a).shape()));
  const Operand x = isScaled ? scaledOperand(nb::cast<const ScaledTensor&>(a), "a")
                             : floatOperand(matrixArray(a, "a"));
  checkDepth(x.elements.shape, b.shape);
  const auto plan = kernels::productPlan(x.format, b.plan.right, x.depth(), execution().isa);
  const kernels::OperandFormat& left = b.plan.left;
  if (!plan || x.format.element != left.element || x.format.scale != left.scale ||
      x.format.along != left.along)
    raise(ErrorClass::Format, "matmul: b is packed for {} on the left, and a is {}; {}",
          nameOf(b.left), isScaled ? "a tensor of another format or axis" : "an array",
          b.left ? fmt::format("octavo.quantize(a, \"{}\")", b.left->name)
                 : "octavo.PackedWeight(b, left) names another");
  Shape shape(x.elements.shape.begin(), x.elements.shape.end() - 1);
  shape.push_back(b.shape[1]);
  ProductResult result(arguments, shape);
  if (!result.isEmpty())
    withoutLock([&] { multiplyByOne(x, b.operand, *plan, result); });
  return result.toPython();
}

/// Adds the arrays that the operand is read from, with which `out` may overlap.
static void addOperand(std::vector<Array>& operands, nb::handle operand, std::string_view name) {
  if (nb::isinstance<ScaledTensor>(operand)) {
    const auto& tensor = nb::cast<const ScaledTensor&>(operand);
    operands.insert(operands.end(), {tensor.elements, tensor.scales});
  } else if (!nb::isinstance<PackedWeight>(operand)) {
    operands.push_back(toArray(operand, name));
  }
}

static nb::object product(nb::handle a, nb::handle b, const EpilogueArguments& arguments) {
  if (nb::isinstance<PackedWeight>(b))
    return matmulPacked(a, nb::cast<const PackedWeight&>(b), arguments);
  const bool left = nb::isinstance<ScaledTensor>(a), right = nb::isinstance<ScaledTensor>(b);
  if (!left && !right)
    raise(ErrorClass::Dtype,
          "matmul: neither side is a ScaledTensor; numpy.matmul multiplies arrays");
  if (left && right)
    return matmulScaled(nb::cast<const ScaledTensor&>(a), nb::cast<const ScaledTensor&>(b),
                        arguments);
  const ScaledTensor& tensor = nb::cast<const ScaledTensor&>(left ? a : b);
  const Array array = matrixArray(left ? b : a, left ? "b" : "a");
  if (tensor.shape().size() < 2)
    raise(ErrorClass::Shape, "{}: expected two axes or more, found shape {}", left ? "a" : "b",
          text(tensor.shape()));
  checkDepth(left ? tensor.shape() : array.shape, left ? array.shape : tensor.shape());
  if (right) {
    if (const nb::object result = matmulArray(array, tensor, arguments))
      return result;
    return finished(numpyProduct(array.numpy, dequantize(tensor).numpy), arguments);
  }
  // a * b = (b^T * a^T)^T
  if (const nb::object result = matmulArray(swapped(array), transposed(tensor), nothingFollows()))
    return finished(result.attr("swapaxes")(-1, -2), arguments);
  return finished(numpyProduct(dequantize(tensor).numpy, array.numpy), arguments);
}

nb::object matmul(nb::handle a, nb::handle b) { return product(a, b, nothingFollows()); }

void bindProducts(nb::module_& module) {
  nb::class_<PackedWeight>(module, "PackedWeight",
                           R"(A weight that is packed ahead for octavo.matmul(a, weight).

octavo.matmul packs a ScaledTensor on its first product and keeps the packing with the tensor. A
PackedWeight is packed when it is made and does not refer to the tensor, which can then be freed.)")
      .def(
          "__init__",
          [](PackedWeight* self, const ScaledTensor& b, nb::handle left) {
            new (self) PackedWeight(packedWeight(b, left));
          },
          DefaultFloats(), nb::arg("b"), nb::arg("left") = "f32",
          nb::sig("def __init__(self, b: ScaledTensor, left: str | ScaledFormat = 'f32') -> None"),
          R"(Packs a weight.

b: a tensor [K, N] with blocks along K: W.T of a weight W [N, K] that is quantized along its last axis.
left: the scaled format of the left operands; "f32" for plain arrays.

Raises ShapeError, FormatError.)")
      .def_prop_ro(
          "shape",
          [](const PackedWeight& self) { return nb::make_tuple(self.shape[0], self.shape[1]); },
          nb::sig("def shape(self, /) -> tuple[int, int]"), "The weight's shape, (K, N).")
      .def_prop_ro(
          "left", [](const PackedWeight& self) { return std::string(nameOf(self.left)); },
          "The scaled format of the left operands; \"f32\" for plain arrays.")
      .def_prop_ro(
          "nbytes", [](const PackedWeight& self) { return self.operand.bytes(); },
          "Bytes of the packed weight in memory.")
      .def(
          "__repr__",
          [](const PackedWeight& self) {
            return fmt::format("<octavo.PackedWeight [{}, {}], left {}, {} bytes>", self.shape[0],
                               self.shape[1], nameOf(self.left), self.operand.bytes());
          },
          DefaultFloats());
  module.def(
      "matmul",
      [](nb::handle a, nb::handle b, nb::object addend, nb::object bias,
         const std::optional<std::string>& activation, nb::object residual, nb::object to,
         double scale, bool returnsAmax, nb::object out) {
        EpilogueArguments arguments = {
            addend, bias, residual, activation, to, static_cast<float>(scale), returnsAmax, out};
        if (!out.is_none()) {
          addOperand(arguments.operands, a, "a");
          addOperand(arguments.operands, b, "b");
        }
        return product(a, b, arguments);
      },
      DefaultFloats(), nb::arg("a").none(), nb::arg("b").none(), nb::kw_only(),
      nb::arg("addend") = nb::none(), nb::arg("bias") = nb::none(),
      nb::arg("activation") = nb::none(), nb::arg("residual") = nb::none(), nb::arg("to") = "f32",
      nb::arg("scale") = 1.0f, nb::arg("return_amax") = false, nb::arg("out") = nb::none(),
      // The stub has overloads in place of this signature (Stub.pattern).
      nb::sig("def matmul(a: ScaledTensor | numpy.typing.ArrayLike, b: ScaledTensor | "
              "PackedWeight | numpy.typing.ArrayLike, *, addend: numpy.typing.ArrayLike | None = "
              "None, bias: "
              "numpy.typing.ArrayLike | None = None, activation: str | None = None, residual: "
              "numpy.typing.ArrayLike | None = None, to: str | numpy.typing.DTypeLike = 'f32', "
              "scale: float = 1.0, return_amax: bool = False, out: "
              "numpy.typing.NDArray[typing.Any] | None = None) -> "
              "numpy.typing.NDArray[typing.Any]"),
      R"(Multiplies matrices, one or both of them quantized, and applies an epilogue:

    activation((a @ b + addend) + bias) + residual

a: [..., M, K], a ScaledTensor with blocks along axis -1, or an array.
b: [..., K, N], a ScaledTensor with blocks along axis -2, an array, or a PackedWeight for a's format.
    A weight W [N, K] that is quantized along its last axis is b = W.T. Leading axes of a and b
    broadcast as in numpy.matmul. The tensor b keeps its packed form for the next product.
addend, residual: arrays that broadcast to [..., M, N]; float32, bfloat16, float16, or float64, which
    is rounded to float32 first.
bias: [N], or [..., 1, N] with a bias for each product; of the same dtypes.
activation: "relu", "gelu-erf", "gelu-tanh" or "silu"; None applies no function.
to: the dtype of the result: "f32", "bf16", "f16" or a narrow format such as "e4m3fn". Values are
    rounded to nearest, ties to even. A narrow format saturates.
scale: a positive number. Values are divided by it before they are rounded to a narrow format, so the
    result stands for codes * scale.
return_amax: True also returns the largest magnitude before that rounding; NaN if a value is NaN.
out: a NumPy array to write to, of the result's shape, of `to`'s dtype or uint8 for codes. It is
    written in place if it is row-major, shares no memory with an operand, and the kernels multiply;
    else through a copy.

Two quantized operands: docs/semantics.md, D1 to D5. With 4-bit, 6-bit or int8 elements the result is
bit-exact. With 8-bit floats its error stays within the bound of octavo/Kernels/Product/Product.h.
An array and a quantized operand: within the bound of Product.h for f32 activations. If blocks do not
lie along K, the operand is dequantized and NumPy multiplies.
Each step of the epilogue rounds once to float32 (docs/semantics.md, P1 to P9).

Returns an array [..., M, N] of `to`'s dtype (`out` if given); with return_amax, that array and a
numpy.float32. Raises ShapeError, DtypeError, FormatError (no product of these formats).)");
}

} // namespace octavo::python
