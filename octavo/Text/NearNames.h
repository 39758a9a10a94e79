// Names near a name that was not found, for error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octavo::text {

/// At most `limit` of `known`, nearest first by edit distance, those no further than a third of the
/// length of `name` (at least 2; 1 for names up to 3 long); a name that contains the other, or is
/// contained in it, or has the same letters in another order, is near at any distance. Upper and
/// lower case are alike.
std::vector<std::string> nearNames(std::string_view name, const std::vector<std::string>& known,
                                   std::size_t limit = 3);

} // namespace octavo::text
