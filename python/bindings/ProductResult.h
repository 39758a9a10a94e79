// The result of octavo.matmul: the array of the product and the epilogue on its elements.
#pragma once

#include "python/bindings/OutputArray.h"

#include "octavo/Kernels/Product/Epilogue.h"

#include <optional>
#include <string>
#include <vector>

namespace octavo::python {

/// The arguments of octavo.matmul that describe the epilogue, by their names.
struct EpilogueArguments {
  nanobind::object addend, bias, residual; ///< None if absent
  std::optional<std::string> activation = std::nullopt;
  nanobind::object to;
  float scale = 1.0f;
  bool returnsAmax = false;
  nanobind::object out = nanobind::none();
  std::vector<Array> operands = {}; ///< the product's operands, with which `out` may share memory
};

/// The array of a product [..., M, N] and the epilogue that writes it (docs/semantics.md, P).
class ProductResult {
public:
  /// `shape` is the product's shape. Raises ShapeError, DtypeError or FormatError for arguments
  /// that do not fit it.
  ProductResult(const EpilogueArguments& arguments, const Shape& shape);
  ProductResult(const ProductResult&) = delete; // whole.amax points to this object
  ProductResult& operator=(const ProductResult&) = delete;

  std::int64_t rows() const { return shape[shape.size() - 2]; }
  std::int64_t columns() const { return shape.back(); }
  std::int64_t products() const;
  bool isEmpty() const { return output.size() == 0; }
  /// Whether the epilogue is empty: the f32 products are the result.
  bool isPlain() const;

  /// The memory and the epilogue of all products, or of the product `item` alone. The caller of a
  /// single product's epilogue adds its amax to the others' with gatherAmax.
  void* data() const { return output.data; }
  const kernels::Epilogue& epilogue() const { return whole; }
  void* dataOf(std::int64_t item) const;
  kernels::Epilogue epilogueOf(std::int64_t item, float& amax) const;
  void gatherAmax(float itemAmax);

  /// Applies the epilogue to existing sums: a row-major f32 array of the product's shape, which is
  /// overwritten.
  void fill(const Array& sums);

  /// The object that octavo.matmul returns.
  nanobind::object toPython() const;
  /// The object that octavo.matmul returns if `sums`, of any strides, are the result.
  nanobind::object toPython(const Array& sums) const { return destination->toPython(sums); }

private:
  Shape shape;
  std::optional<OutputArray> destination;
  Array output; ///< in which the result is computed
  std::optional<Array> addend, bias, residual;
  kernels::Epilogue whole;
  bool returnsAmax;
  float amax = 0;
};

} // namespace octavo::python
