// What fields of steps of products have in common.
#pragma once

#include "octavo/Program/Steps/Products/Product.h"
#include "octavo/Program/Steps/StepFields.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace octavo::program {

/// A slot that has so many bytes for each row of the matrices; that of a range, in each row of the
/// chain.
void requireRows(ProgramFields& fields, Slot slot, const Matrices& matrices,
                 const BatchExtent& rows, const BatchExtent& bytesOfRow, Access access);

/// Whether values of a format of floats are those of a type that kernels multiply.
bool isHeldBy(kernels::PlainType type, const format::ElementFormat& format);

/// The packed operands of a product: writes `packed`, a form of the constant, or returns those that
/// were read, which have the same count. Null: nothing is packed, or something is wrong. `read` is
/// the fields of one operand.
template <typename Operand, typename Read>
std::shared_ptr<const std::vector<Operand>>
packedAll(ProgramFields& fields, const std::shared_ptr<const std::vector<Operand>>& packed,
          std::int64_t count, const char* otherCount, Read read) {
  // The compiler packs nothing.
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

/// The form of a product's constant that is to be written: what `step` prepares in the frame. Null
/// where fields are read.
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

/// The value of a constant's slot.
inline const Value& constantOf(const Program& program, Slot slot) {
  const SlotUse& use = program.slots[static_cast<std::size_t>(slot.number)];
  return program.constants[static_cast<std::size_t>(use.index)];
}

/// Gives a constant a form that was read, when all of the program has been.
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
