#include "octavo/Dialect/TextNesting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace octavo {

namespace {

constexpr llvm::StringLiteral kOpen = "({[<", kClose = ")}]>";
/// The most attributes and types that an alias may contain with the aliases in it expanded, as
/// printing does.
constexpr std::uint64_t kMostParts = 10'000'000;

bool isIdentifierByte(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; }

class NestingScanner {
public:
  NestingScanner(llvm::StringRef text, const NestingLimits& limits) : text(text), limits(limits) {}

  std::optional<TooDeep> scan() {
    while (at < text.size() && !found) {
      const char c = text[at];
      if (llvm::isSpace(c) || c == '\0')
        ++at;
      else if (text.substr(at, 2) == "//")
        comment();
      else
        token(c);
    }
    return found;
  }

private:
  /// The kind of the previous token.
  enum class Token : std::uint8_t { Start, Value, Connector };

  /// An open bracket.
  struct Level {
    std::size_t kind;
    bool isBody; ///< opens the body of a dialect's attribute or type, #stablehlo.gather<...>
    unsigned operators = 0; ///< number of operators before the bracket in the enclosing expression
  };

  /// The size of an attribute or type that an alias names.
  struct Alias {
    unsigned depth = 0; ///< deepest open brackets, aliases expanded
    std::uint64_t parts = 1;
  };

  void report(std::size_t place, const llvm::Twine& what) {
    if (!found)
      found = TooDeep{place, what.str()};
  }

  char peek(std::size_t ahead) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  /// MLIR ignores comments when it looks for the end of a dialect's attribute or type, but the
  /// dialect's parser skips them. So a bracket in a comment there can be read in two ways, and is
  /// refused.
  void comment() {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (bodies != 0 && text.slice(at, end).find_first_of("(){}[]<>\"") != llvm::StringRef::npos)
      report(at, "has a comment with brackets or quotes within an attribute or type of a dialect, "
                 "which octavo does not read; write it outside");
    at = end;
  }

  void token(char c) {
    const std::size_t start = at;
    if (c == '"') {
      at = endOfString(text, at);
      at += at < text.size() && text[at] == '"' ? 1 : 0;
      value(/*canBeginOperation=*/true);
    } else if (c == '@') {
      ++at;
      takeWhile(isIdentifierByte);
      value(/*canBeginOperation=*/false);
    } else if (llvm::StringRef("#!%^").contains(c)) {
      prefixed(c);
    } else if (llvm::isAlpha(c) || c == '_') {
      takeWhile(isIdentifierByte);
      const llvm::StringRef name = text.slice(start, at);
      if (name == "floordiv" || name == "ceildiv" || name == "mod")
        operatorAt(start);
      else
        value(/*canBeginOperation=*/true);
    } else if (llvm::isDigit(c)) {
      number();
      value(/*canBeginOperation=*/false);
    } else if (text.substr(at, 2) == "->" || text.substr(at, 2) == ">=" ||
               text.substr(at, 2) == "<=") { // no brackets
      at += 2;
      connector();
    } else if (const std::size_t kind = kOpen.find(c); kind != llvm::StringRef::npos) {
      open(kind, false);
    } else if (const std::size_t closed = kClose.find(c); closed != llvm::StringRef::npos) {
      close(closed);
    } else if (c == '+' || c == '-' || c == '*') {
      ++at;
      operatorAt(start);
    } else {
      ++at;
      if (c == ',' || c == ':' || c == '=')
        connector();
      else
        last = Token::Value;
    }
  }

  template <typename Is> void takeWhile(Is is) {
    while (at < text.size() && is(text[at]))
      ++at;
  }

  void number() {
    if (text.substr(at, 2) == "0x" && llvm::isHexDigit(peek(2))) {
      at += 2;
      takeWhile(llvm::isHexDigit);
      return;
    }
    takeWhile(llvm::isDigit);
    if (peek(0) != '.')
      return;
    ++at;
    takeWhile(llvm::isDigit);
    if (peek(0) != 'e' && peek(0) != 'E')
      return;
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if (!llvm::isDigit(peek(sign)))
      return;
    at += sign;
    takeWhile(llvm::isDigit);
  }

  void value(bool canBeginOperation) {
    if (canBeginOperation && levels.empty() && last == Token::Value)
      alias = nullptr; // the alias is complete, and this token begins an operation
    last = Token::Value;
  }

  void connector() {
    operators = 0;
    last = Token::Connector;
  }

  void operatorAt(std::size_t start) {
    if (++operators > limits.levels)
      report(start, "has more than " + llvm::Twine(limits.levels) +
                        " operators in one expression, the most that octavo reads");
    last = Token::Connector;
  }

  /// Reads the name of a value, block or alias, or of a dialect with its attribute or type.
  void prefixed(char prefix) {
    const std::size_t start = at++;
    if (llvm::isDigit(peek(0)))
      takeWhile(llvm::isDigit);
    else
      while (isIdentifierByte(peek(0)) || (peek(0) == '-' && peek(1) != '>'))
        ++at;
    const llvm::StringRef name = text.slice(start, at);
    if (prefix == '%' || prefix == '^')
      return value(/*canBeginOperation=*/true);
    std::size_t next = at;
    while (next < text.size() && (llvm::isSpace(text[next]) || text.substr(next, 2) == "//"))
      next = text[next] == '/' ? std::min(text.find('\n', next), text.size()) : next + 1;
    if (next < text.size() && text[next] == '<' && text.substr(next, 2) != "<=") {
      value(/*canBeginOperation=*/false);
      at = next;
      return open(kOpen.find('<'), true);
    }
    if (levels.empty() && last != Token::Connector && next < text.size() && text[next] == '=') {
      alias = &aliases[name];
      *alias = {};
      last = Token::Value;
      return;
    }
    value(/*canBeginOperation=*/false);
    if (const auto used = aliases.find(name); used != aliases.end())
      use(start, name, used->second);
  }

  void use(std::size_t start, llvm::StringRef name, Alias used) {
    if (alias == nullptr)
      return;
    alias->depth = std::max(alias->depth, static_cast<unsigned>(levels.size()) + used.depth);
    alias->parts = llvm::SaturatingAdd(alias->parts, used.parts);
    if (alias->depth > limits.levels)
      report(start, "nests deeper than " + llvm::Twine(limits.levels) +
                        " levels where each alias is what it stands for, here '" + name +
                        "'; that is the most that octavo reads");
    if (alias->parts > kMostParts)
      report(start, "stands for more than " + llvm::Twine(kMostParts) +
                        " attributes and types where each alias is what it stands for, here '" +
                        name + "'");
  }

  void open(std::size_t kind, bool isBody) {
    levels.push_back({kind, isBody, operators});
    operators = 0;
    bodies += isBody ? 1 : 0;
    const auto depth = static_cast<unsigned>(levels.size());
    if (alias != nullptr)
      alias->depth = std::max(alias->depth, depth);
    if ((limits.areKindsApart ? ++ofKind[kind] : depth) > limits.levels)
      report(at, "nests deeper than " + llvm::Twine(limits.levels) + " levels of '" +
                     kOpen.substr(kind, 1) + "', the most that octavo reads");
    ++at;
    last = Token::Connector;
  }

  /// A bracket that does not match the last open one closes nothing; MLIR reports the error.
  void close(std::size_t kind) {
    ++at;
    last = Token::Value;
    if (levels.empty() || levels.back().kind != kind)
      return;
    operators = levels.back().operators;
    bodies -= levels.back().isBody ? 1 : 0;
    levels.pop_back();
    if (limits.areKindsApart)
      --ofKind[kind];
  }

  llvm::StringRef text;
  NestingLimits limits;
  std::size_t at = 0;
  std::optional<TooDeep> found;
  Token last = Token::Start;
  std::vector<Level> levels;
  std::array<unsigned, kOpen.size()> ofKind{};
  std::size_t bodies = 0;
  unsigned operators = 0; ///< number of operators in the current expression
  llvm::StringMap<Alias> aliases;
  Alias* alias = nullptr; ///< the alias that the text is defining; null outside a definition
};

} // namespace

std::size_t endOfString(llvm::StringRef text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    at += text[at] == '\\' ? 1 : 0;
  return std::min(at, text.size());
}

std::optional<TooDeep> tooDeepIn(llvm::StringRef text, const NestingLimits& limits) {
  return NestingScanner(text, limits).scan();
}

} // namespace octavo
