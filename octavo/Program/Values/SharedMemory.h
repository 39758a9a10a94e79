// Results that share memory with arguments.
#pragma once

#include "octavo/Program/Values/RunContext.h"

#include <functional>
#include <span>
#include <vector>

namespace octavo::program {

/// Copies each argument that overlaps a result. Exception: argument and result are the same bytes
/// and `canOverwrite(argument, result)` says that the run is correct then. Throws std::bad_alloc.
template <typename CanOverwrite>
void keepApart(std::span<Value> arguments, ResultMemory memory, CanOverwrite canOverwrite) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (std::size_t result = 0; result < memory.size() && arguments[i].isTensor(); ++result) {
      const std::span<const std::byte> given(arguments[i].tensor().bytes), own = memory[result];
      const bool overlap = std::less<>()(given.data(), own.data() + own.size()) &&
                           std::less<>()(own.data(), given.data() + given.size());
      const bool isSame = given.data() == own.data() && given.size() == own.size();
      if (overlap && !(isSame && canOverwrite(i, result)))
        arguments[i] = Value(Tensor(arguments[i].tensor()));
    }
}

} // namespace octavo::program
