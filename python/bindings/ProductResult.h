// The result of octavo.matmul: the array that a product fills, and its epilogue.
#pragma once

#include "python/bindings/OutputArray.h"

#include "octavo/Kernels/Product/Epilogue.h"

#include <optional>
#include <string>
#include <vector>

namespace octavo::python {

/// What the caller asked for, by octavo.matmul's names.
struct EpilogueArguments {
  nanobind::object addend, bias, residual; ///< None where there is none
  std::optional<std::string> activation = std::nullopt;
  nanobind::object to;
  float scale = 1.0f;
  bool returnsAmax = false;
  nanobind::object out = nanobind::none();
  std::vector<Array> operands = {}; ///< of the product, which `out` may share memory with
};

/// The array of a product [..., M, N] and the steps on the way into it (docs/semantics.md, P).
class ProductResult {
public:
  /// `shape` is the product's. Raises ShapeError, DtypeError, FormatError for arguments that do not
  /// fit it.
  ProductResult(const EpilogueArguments& arguments, const Shape& shape);
  ProductResult(const ProductResult&) = delete; // whole.amax is this one's
  ProductResult& operator=(const ProductResult&) = delete;

  std::int64_t rows() const { return shape[shape.size() - 2]; }
  std::int64_t columns() const { return shape.back(); }
  std::int64_t products() const;
  bool isEmpty() const { return output.size() == 0; }
  /// Whether the products are the result as they are, wherever it goes.
  bool isPlain() const;

  /// Where the products go, all of them or `item` alone, and their epilogue. A product of one item
  /// counts its amax to the others' by gatherAmax.
  void* data() const { return output.data; }
  const kernels::Epilogue& epilogue() const { return whole; }
  void* dataOf(std::int64_t item) const;
  kernels::Epilogue epilogueOf(std::int64_t item, float& amax) const;
  void gatherAmax(float itemAmax);

  /// The epilogue on sums that are there: f32, row-major, of the product's shape, written over.
  void fill(const Array& sums);

  /// What octavo.matmul returns.
  nanobind::object toPython() const;
  /// The same of sums that are the result, in any strides.
  nanobind::object toPython(const Array& sums) const { return destination->toPython(sums); }

private:
  Shape shape;
  std::optional<OutputArray> destination;
  Array output; ///< where it is computed
  std::optional<Array> addend, bias, residual;
  kernels::Epilogue whole;
  bool returnsAmax;
  float amax = 0;
};

} // namespace octavo::python
