#include "octavo/Program/Values/Donation.h"

#include <algorithm>

namespace octavo::program {

std::vector<Donation> oneForEach(std::span<const Donation> donations) {
  std::vector<Donation> list;
  for (const Donation& each : donations)
    if (std::ranges::none_of(list, [&](const Donation& before) {
          return before.argument == each.argument || before.result == each.result;
        }))
      list.push_back(each);
  return list;
}

} // namespace octavo::program
