#include "octavo/Interpreter/Tensor/Codec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <mutex>

namespace octavo::interpreter {

namespace {

/// The values of all codes of a format of at most 16 bits, computed when first needed. Bits above
/// the width are ignored, so any content of a container is a valid index.
const float* valuesOf(const ElementFormat& format) {
  constexpr std::size_t kRows = format::kElementFormats.size();
  static std::array<std::once_flag, kRows> once;
  static std::array<std::vector<float>, kRows> tables;
  const auto row = static_cast<std::size_t>(
      std::find(format::kElementFormats.begin(), format::kElementFormats.end(), format) -
      format::kElementFormats.begin());
  std::call_once(once[row], [&] {
    std::vector<float> table(format.isNarrow() ? 1 << 8 : 1 << 16);
    for (std::size_t code = 0; code < table.size(); ++code)
      table[code] = static_cast<float>(numerics::decode(format, code));
    tables[row] = std::move(table);
  });
  return tables[row].data();
}

} // namespace

template <typename Code>
TableCodec<Code>::TableCodec(const ElementFormat& format)
    : format(&format), values(valuesOf(format)),
      // A format without subnormals has no sign and no magnitude either: numerics::convert encodes
      // all its values.
      beyond(format.hasSubnormals() ? std::bit_cast<std::uint64_t>(numerics::maxValue(format)) + 1
                                    : 0),
      smallestNormal(std::bit_cast<std::uint64_t>(std::ldexp(1.0, format.emin()))),
      rebias(static_cast<std::uint64_t>(1023 - format.bias) << format.trailingSignificandBits),
      sign(format.signMask()), perQuantum(std::ldexp(1.0, -format.quantumExponent())),
      dropped(52 - format.trailingSignificandBits), hasNegativeZero(format.hasNegativeZero()) {}

template class TableCodec<std::uint8_t>;
template class TableCodec<std::uint16_t>;

} // namespace octavo::interpreter
