#include "octavo/Base/NaturalOrder.h"

#include <algorithm>

namespace octavo::base {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view digits(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && isDigit(text[end]))
    ++end;
  return text.substr(begin, end - begin);
}

} // namespace

bool precedesNaturally(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (isDigit(a[i]) && isDigit(b[j])) {
      const std::string_view x = digits(a, i), y = digits(b, j);
      const std::string_view p = x.substr(std::min(x.find_first_not_of('0'), x.size()));
      const std::string_view q = y.substr(std::min(y.find_first_not_of('0'), y.size()));
      if (p != q)
        return p.size() != q.size() ? p.size() < q.size() : p < q;
      i += x.size();
      j += y.size();
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  if (i == a.size() && j == b.size())
    return a < b; // "01" and "1": any fixed order keeps the names distinct
  return i == a.size();
}

} // namespace octavo::base
