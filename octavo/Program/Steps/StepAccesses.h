// Which slots and values each step of a program reads and writes. The steps' own fields say it
// (ProgramFields.h), which the checker of compiled folders reads too.
#pragma once

#include "octavo/Program/Steps/Program.h"

#include <map>
#include <vector>

namespace octavo::program {

/// Numbers of slots, and of places among the values; each once, in ascending order.
struct StepAccesses {
  std::vector<int> reads, writes;
  std::vector<int> readValues, writtenValues;
};

/// The accesses of all steps: those of a loop, a chain or a product are without those of the steps
/// that it runs, which have entries of their own.
std::map<const Step*, StepAccesses> accessesOf(const Program& program);

} // namespace octavo::program
