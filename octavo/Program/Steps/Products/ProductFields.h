// Helpers for the `fields` functions of product steps.
#pragma once

#include "octavo/Program/Steps/Products/Product.h"
#include "octavo/Program/Steps/StepFields.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace octavo::program {

/// Requires `bytesOfRow` bytes for each row of the matrices; of a range slot, for each row of the
/// chain.
void requireRows(ProgramFields& fields, Slot slot, const Matrices& matrices,
                 const BatchExtent& rows, const BatchExtent& bytesOfRow, Access access);

/// Whether the type in which kernels multiply represents all values of a float format.
bool isHeldBy(kernels::PlainType type, const format::ElementFormat& format);

/// Writes the packed operands `packed`, or reads `count` operands and returns them. `read` handles
/// the fields of one operand. Null while writing, if the compiler itself visits the fields, or
/// after an error. `otherCount` is the error if the count differs.
template <typename Operand, typename Read>
std::shared_ptr<const std::vector<Operand>>
packedAll(ProgramFields& fields, const std::shared_ptr<const std::vector<Operand>>& packed,
          std::int64_t count, const char* otherCount, Read read) {
  // Lowering packs nothing.
  if (fields.isTrusted() || fields.failed())
    return nullptr;
  std::vector<std::shared_ptr<const Operand>> each;
  for (std::size_t i = 0; packed != nullptr && i < packed->size(); ++i)
    each.emplace_back(packed, &(*packed)[i]);
  fields.list(each, kMost, read);
  if (static_cast<std::int64_t>(each.size()) != count)
    fields.fail(otherCount);
  if (!fields.isReading() || fields.failed())
    return nullptr;
  std::vector<Operand> made;
  for (const auto& operand : each)
    made.push_back(std::move(const_cast<Operand&>(*operand)));
  return std::make_shared<const std::vector<Operand>>(std::move(made));
}

/// The packed form to write for a product's constant: what `step` prepares in the frame. Null while
/// reading.
template <typename Form>
std::shared_ptr<const Form> formToWrite(ProgramFields& fields, const RowStep& step, int right) {
  Frame* const frame = fields.frame();
  if (frame == nullptr)
    return nullptr;
  if (Outcome prepared = step.prepare(*frame); !prepared) {
    fields.fail(prepared.error());
    return nullptr;
  }
  return std::static_pointer_cast<const Form>(std::exchange(frame->right(right).form, nullptr));
}

/// The value of the constant in `slot`.
inline const Value& constantOf(const Program& program, Slot slot) {
  const SlotUse& use = program.slots[static_cast<std::size_t>(slot.number)];
  return program.constants[static_cast<std::size_t>(use.index)];
}

/// Attaches a packed form to a constant after the whole program has been read.
template <typename Form>
void giveForm(ProgramFields& fields, Slot constant, PackedForms::Key key,
              std::shared_ptr<const Form> form) {
  if (form == nullptr)
    return;
  fields.atEnd([constant, key = std::move(key), form = std::move(form)](const Program& program) {
    static_cast<void>(constantOf(program, constant)
                          .forms()
                          .of<Form>(key, [&]() -> tl::expected<Form, std::string> {
                            return std::move(const_cast<Form&>(*form));
                          }));
  });
}

} // namespace octavo::program
