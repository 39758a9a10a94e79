#include "octavo/Interpreter/ElementText.h"

#include "octavo/Interpreter/Tensor/Codec.h"
#include "octavo/Interpreter/Tensor/Elements.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>

namespace octavo::interpreter {

using numerics::ElementType;

namespace {

std::string plainFloatText(const ElementFormat& format, std::uint64_t code) {
  char text[64];
  const double value = numerics::decode(format, code);
  // The shortest text that identifies an f32; as a double it would have 17 digits.
  const std::to_chars_result end =
      format == kF64.format() ? std::to_chars(text, std::end(text), value)
                              : std::to_chars(text, std::end(text), static_cast<float>(value));
  return {text, end.ptr};
}

std::string floatText(const ElementFormat& format, std::uint64_t code) {
  return plainFloatText(format, code) + " (0x" + llvm::utohexstr(code) + ")";
}

std::string integerText(IntegerType type, std::uint64_t code) {
  const std::uint64_t value = extend(type, code);
  return type.isUnsigned ? std::to_string(value) : std::to_string(static_cast<std::int64_t>(value));
}

} // namespace

std::string elementText(const Tensor& tensor, std::int64_t i) {
  const ElementType& type = tensor.type;
  if (type.isBoolean())
    return tensor.code(i) != 0 ? "true" : "false";
  if (type.isInteger())
    return integerText(type.integer(), tensor.code(i));
  if (type.isQuantized())
    return "storage " + integerText(type.quantized().storage, tensor.code(i));
  if (type.isFloat())
    return floatText(type.format(), tensor.code(i));
  // The parts of a complex number are a float tensor of twice as many elements.
  const Tensor parts{type.part(), {2 * tensor.size()}, tensor.bytes};
  return "(" + floatText(type.part(), parts.code(2 * i)) + ", " +
         floatText(type.part(), parts.code(2 * i + 1)) + ")";
}

std::string plainElementText(const Tensor& tensor, std::int64_t i) {
  const ElementType& type = tensor.type;
  if (type.isFloat())
    return plainFloatText(type.format(), tensor.code(i));
  if (!type.isComplex())
    return elementText(tensor, i);
  const Tensor parts{type.part(), {2 * tensor.size()}, tensor.bytes};
  return "[" + plainFloatText(type.part(), parts.code(2 * i)) + ", " +
         plainFloatText(type.part(), parts.code(2 * i + 1)) + "]";
}

} // namespace octavo::interpreter
