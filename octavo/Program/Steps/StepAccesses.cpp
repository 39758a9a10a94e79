#include "octavo/Program/Steps/StepAccesses.h"

#include "octavo/Program/Steps/File/ProgramFields.h"

#include <algorithm>
#include <string>

namespace octavo::program {

namespace {

void insert(std::vector<int>& numbers, int number) {
  const auto place = std::ranges::lower_bound(numbers, number);
  if (place == numbers.end() || *place != number)
    numbers.insert(place, number);
}

/// Visits the fields of steps without changing them.
class AccessFields final : public ProgramFields {
public:
  explicit AccessFields(Program& program) : ProgramFields(program) {}

  bool isReading() const override { return false; }
  bool isTrusted() const override { return true; }
  /// Steps without a form in a file have accesses all the same.
  void fail(std::string /*why*/) override {}
  void section(kernels::PackedBytes& /*bytes*/, std::size_t /*least*/) override {}
  void beginStep(const Step& step) override { open.push_back(&found[&step]); }
  void endStep() override { open.pop_back(); }
  void uses(Slot slot, Access access) override {
    if (!open.empty())
      insert(access == Access::Read ? open.back()->reads : open.back()->writes, slot.number);
  }
  void usesValue(int number, Access access) override {
    if (!open.empty())
      insert(access == Access::Read ? open.back()->readValues : open.back()->writtenValues, number);
  }

  std::map<const Step*, StepAccesses> found;

private:
  void word(std::uint64_t& /*bits*/) override {}
  void characters(std::string& /*text*/, std::size_t /*count*/) override {}
  std::int64_t mostItems() const override { return kMost; }
  void use(std::size_t /*constant*/) override {}
  void useValue(int /*number*/) override {}

  std::vector<StepAccesses*> open; ///< of the steps being visited; a map's elements do not move
};

} // namespace

std::map<const Step*, StepAccesses> accessesOf(const Program& program) {
  // AccessFields does not modify the program. `fields` is not const because readers use it too.
  auto& fieldsOf = const_cast<Program&>(program);
  AccessFields fields(fieldsOf);
  fields.steps(fieldsOf.steps);
  return std::move(fields.found);
}

} // namespace octavo::program
