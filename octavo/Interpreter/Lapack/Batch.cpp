#include "octavo/Interpreter/Lapack/Batch.h"

#include <algorithm>
#include <limits>

namespace octavo::interpreter::lapack {

namespace {

/// One operand or result of a signature: "T[m,n]".
struct Pattern {
  char type;
  std::string extents;
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end != 0)
      list.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

Pattern patternOf(std::string_view text) {
  Pattern pattern{text.front(), ""};
  for (char c : text.substr(1))
    if (c >= 'a' && c <= 'z')
      pattern.extents += c;
  return pattern;
}

ElementType typeOf(char name, const ElementType& type) {
  switch (name) {
  case 'R':
    return type.isComplex() ? ElementType(type.part()) : type;
  case 'C':
    return type.isComplex() ? type : ElementType(numerics::ComplexType{&type.format()});
  case 'i':
    return numerics::IntegerType{32, false};
  default:
    return type;
  }
}

std::string described(const ElementType& type, std::span<const std::int64_t> shape) {
  std::string text = "tensor<";
  for (std::int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + type.name() + ">";
}

/// Binds the letters of a pattern to the extents of `tensor`. Returns an error message if the
/// tensor does not fit or a letter is bound to another extent; empty otherwise.
std::string bindExtents(const Pattern& pattern, const ElementType& type, const Tensor& tensor,
                        std::span<const std::int64_t> batch, std::map<char, Int>& extents) {
  const ElementType expected = typeOf(pattern.type, type);
  const std::size_t rank = batch.size() + pattern.extents.size();
  if (tensor.type != expected || tensor.shape.size() != rank ||
      !std::ranges::equal(batch, std::span(tensor.shape).first(batch.size()))) {
    std::vector<std::int64_t> shape(batch.begin(), batch.end());
    return "is " + described(tensor.type, tensor.shape) + "; expected " +
           std::to_string(pattern.extents.size()) + " axes of " + expected.name() +
           " after those of the batch, " + described(expected, shape);
  }
  for (std::size_t i = 0; i < pattern.extents.size(); ++i) {
    const std::int64_t extent = tensor.shape[batch.size() + i];
    if (extent > std::numeric_limits<Int>::max())
      return "has an axis of " + std::to_string(extent) +
             "; LAPACK takes at most 2147483647 on an axis";
    const auto [bound, isNew] = extents.emplace(pattern.extents[i], static_cast<Int>(extent));
    if (bound->second != extent)
      return "is " + described(tensor.type, tensor.shape) + "; its axis " +
             std::to_string(batch.size() + i) + " must be " + std::to_string(bound->second) +
             " long";
  }
  return "";
}

} // namespace

tl::expected<Batch, std::string> Batch::make(std::string_view signature, std::string_view letters,
                                             const ElementType& type, std::vector<Tensor> operands,
                                             std::vector<Tensor> results, const Options& options) {
  std::vector<Pattern> patterns;
  std::size_t operandCount = 0;
  for (const std::string& word : words(signature)) {
    if (word == "->")
      operandCount = patterns.size();
    else
      patterns.push_back(patternOf(word));
  }
  if (operands.size() != operandCount || results.size() != patterns.size() - operandCount)
    return tl::unexpected("takes " + std::to_string(operandCount) + " operands and gives " +
                          std::to_string(patterns.size() - operandCount) + " results; found " +
                          std::to_string(operands.size()) + " and " +
                          std::to_string(results.size()));
  const std::vector<std::int64_t>& first = operands.front().shape;
  if (first.size() < patterns.front().extents.size())
    return tl::unexpected("operand 0 is " + described(operands.front().type, first) +
                          "; expected at least " + std::to_string(patterns.front().extents.size()) +
                          " axes");
  const std::vector<std::int64_t> batch(
      first.begin(), first.end() - static_cast<std::ptrdiff_t>(patterns.front().extents.size()));

  Batch made;
  made.items = numerics::elementCount(batch);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (i == operandCount && made.extents.contains('n')) {
      const Int n = made.extents.at('n');
      if (made.extents.contains('m'))
        made.extents.emplace('k', std::min(made.extents.at('m'), n));
      made.extents.emplace('l', std::max(n - 1, 0));
    }
    const bool isOperand = i < operandCount;
    const std::size_t number = isOperand ? i : i - operandCount;
    if (std::string wrong = bindExtents(
            patterns[i], type, isOperand ? operands[number] : results[number], batch, made.extents);
        !wrong.empty())
      return tl::unexpected((isOperand ? "operand " : "result ") + std::to_string(number) + " " +
                            wrong);
  }
  for (const std::string& word : words(letters)) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), allowed = word.substr(equals + 1);
    const std::optional<std::int64_t> value = options(name);
    if (!value)
      return tl::unexpected("has no '" + name + "' in its configuration");
    if (allowed != "#" && (*value < 0 || *value > 127 ||
                           allowed.find(static_cast<char>(*value)) == std::string::npos))
      return tl::unexpected("has a '" + name + "' of " + std::to_string(*value) +
                            "; expected the code of one of the letters " + allowed);
    made.options.emplace(name, *value);
  }
  made.operands = std::move(operands);
  made.results = std::move(results);
  return made;
}

} // namespace octavo::interpreter::lapack
