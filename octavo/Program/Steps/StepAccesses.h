// Which slots and values each step of a program reads and writes. Derived from the steps' fields
// (ProgramFields.h), which also check files: one account serves both.
#pragma once

#include "octavo/Program/Steps/Program.h"

#include <map>
#include <vector>

namespace octavo::program {

/// Indices of slots and of values; sorted, without duplicates.
struct StepAccesses {
  std::vector<int> reads, writes;
  std::vector<int> readValues, writtenValues;
};

/// The accesses of all steps. The accesses of nested steps have their own entries and are not
/// counted for the step that runs them.
std::map<const Step*, StepAccesses> accessesOf(const Program& program);

} // namespace octavo::program
