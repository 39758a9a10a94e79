// What fields of steps of products have in common.
#pragma once

#include "octavo/Steps/Product.h"
#include "octavo/Steps/StepFields.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace octavo::steps {

/// A slot that has so many bytes for each row of the matrices; that of a range, in each row of the
/// chain.
void requireRows(ProgramFields& fields, Slot slot, const Matrices& matrices, const ItemNumber& rows,
                 const ItemNumber& bytesOfRow, Access access);

/// Whether values of a format of floats are those of a type that kernels multiply.
bool isHeldBy(kernels::PlainType type, const format::ElementFormat& format);

/// Several that are packed, which a step keeps as one; `read` is the fields of each.
template <typename Operand, typename Read>
void packedAll(ProgramFields& fields, std::shared_ptr<const std::vector<Operand>>& all,
               std::int64_t count, const char* otherCount, Read read) {
  // The compiler packs nothing.
  if (fields.isTrusted())
    return;
  std::vector<std::shared_ptr<const Operand>> each;
  for (std::size_t i = 0; all != nullptr && i < all->size(); ++i)
    each.emplace_back(all, &(*all)[i]);
  fields.list(each, kMost, read);
  if (static_cast<std::int64_t>(each.size()) != count)
    fields.fail(otherCount);
  if (!fields.isReading() || fields.failed())
    return;
  std::vector<Operand> made;
  for (const auto& operand : each)
    made.push_back(std::move(const_cast<Operand&>(*operand)));
  all = std::make_shared<const std::vector<Operand>>(std::move(made));
}

} // namespace octavo::steps
