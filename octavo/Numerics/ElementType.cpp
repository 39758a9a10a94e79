#include "octavo/Numerics/ElementType.h"

#include <charconv>
#include <iterator>

namespace octavo::numerics {

namespace {

std::string spelled(IntegerType type) {
  return (type.isUnsigned ? "ui" : "i") + std::to_string(type.width);
}

std::string spelled(double value) {
  char text[64];
  return {text, std::to_chars(text, std::end(text), value).ptr};
}

/// The limits of a storage type, which its spelling leaves out.
bool hasFullRange(const QuantizedType& type) {
  const int valueBits = type.storage.isUnsigned ? type.storage.width : type.storage.width - 1;
  const std::int64_t highest = (std::int64_t{1} << valueBits) - 1;
  return type.storageMax == highest &&
         type.storageMin == (type.storage.isUnsigned ? 0 : -highest - 1);
}

std::string spelled(const QuantizedType& type) {
  // The quant dialect spells unsigned storage u8.
  std::string text = std::string("!quant.uniform<") + (type.storage.isUnsigned ? "u" : "i") +
                     std::to_string(type.storage.width);
  if (!hasFullRange(type))
    text += "<" + std::to_string(type.storageMin) + ":" + std::to_string(type.storageMax) + ">";
  text += ":" + std::string(type.expressed->mlir);
  if (type.axis)
    text += ":" + std::to_string(*type.axis);
  std::string scales;
  for (std::size_t i = 0; i < type.scales.size(); ++i) {
    scales += (i == 0 ? "" : ",") + spelled(type.scales[i]);
    if (type.zeroPoints[i] != 0)
      scales += ":" + std::to_string(type.zeroPoints[i]);
  }
  return text + ", " + (type.axis ? "{" + scales + "}" : scales) + ">";
}

int containerBytes(IntegerType type) { return type.width <= 8 ? 1 : type.width / 8; }

} // namespace

int ElementType::width() const {
  if (isFloat())
    return format().width();
  if (isComplex())
    return 2 * part().width();
  return isInteger() ? integer().width : quantized().storage.width;
}

int ElementType::bytes() const {
  if (isFloat())
    return format().bytes();
  if (isComplex())
    return 2 * part().bytes();
  return containerBytes(isInteger() ? integer() : quantized().storage);
}

std::string ElementType::name() const {
  if (isFloat())
    return std::string(format().irName());
  if (isComplex())
    return "complex<" + std::string(part().mlir) + ">";
  return isInteger() ? spelled(integer()) : spelled(quantized());
}

} // namespace octavo::numerics
