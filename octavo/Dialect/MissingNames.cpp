#include "octavo/Dialect/MissingNames.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <map>
#include <optional>

namespace octavo {

namespace {

/// Number of uses by name.
using Counts = std::map<std::string, std::size_t, std::less<>>;

std::string spell(const Counts& counts) {
  std::string list;
  for (const auto& [name, count] : counts)
    list += (list.empty() ? "" : ", ") + name +
            (count == 1 ? " (once)" : " (" + std::to_string(count) + " times)");
  return list;
}

bool isNameByte(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; }

/// Finds names in MLIR's text. Operations are found at the places where printed programs have them:
/// at the start of a line, after `%x =` and after `{`. Attributes and types of dialects,
/// #dialect.name or #dialect<name>, are reported as "#dialect.name".
class Scanner {
public:
  explicit Scanner(llvm::StringRef text) : rest(text) {}

  template <typename F, typename G> void forEachName(F operation, G attributeOrType) {
    while (!rest.empty()) {
      const char c = rest.front();
      if (c == '\n') {
        startsStatement = true;
        rest = rest.drop_front();
      } else if (llvm::isSpace(c)) {
        rest = rest.drop_front();
      } else if (rest.starts_with("//")) {
        rest = rest.drop_until([](char at) { return at == '\n'; });
      } else if (c == '"') {
        const llvm::StringRef name = string();
        if (startsStatement && rest.ltrim(" \t").starts_with("("))
          operation(name);
        startsStatement = false;
      } else if (isNameByte(c) && !llvm::isDigit(c)) {
        const llvm::StringRef name = take(isNameByte);
        const llvm::StringRef next = rest.ltrim(" \t");
        if (startsStatement && name.contains('.') && !next.starts_with("=") &&
            !next.starts_with(",") && !next.starts_with("}"))
          operation(name);
        startsStatement = isResult = false;
      } else if (llvm::StringRef("%#!@^").contains(c)) {
        rest = rest.drop_front();
        const llvm::StringRef name =
            take([](char at) { return isNameByte(at) || at == ':' || at == '#'; });
        if (c == '#' || c == '!')
          attributeOrType(c + fullName(name));
        isResult = c == '%';
        startsStatement = false;
      } else {
        startsStatement = c == '{' || (c == '=' && isResult);
        isResult = isResult && c == ',';
        rest = rest.drop_front();
      }
    }
  }

private:
  /// "dialect.name" for both dialect.name and dialect<name; an alias unchanged.
  std::string fullName(llvm::StringRef name) const {
    if (name.contains('.') || !rest.starts_with("<"))
      return name.str();
    return (name + "." + rest.drop_front().take_while(isNameByte)).str();
  }

  template <typename F> llvm::StringRef take(F f) {
    const llvm::StringRef taken = rest.take_while(f);
    rest = rest.drop_front(taken.size());
    return taken;
  }

  /// The text between quotes; without a closing quote, up to the end of the line.
  llvm::StringRef string() {
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != '"' && rest[end] != '\n')
      end += rest[end] == '\\' ? 2 : 1;
    end = std::min(end, rest.size());
    const llvm::StringRef inside = rest.slice(1, end);
    rest = rest.drop_front(end);
    rest.consume_front("\"");
    return inside;
  }

  llvm::StringRef rest;
  bool startsStatement = true;
  bool isResult = false; ///< the last token is `%x` or a list of them
};

bool isMissing(llvm::StringRef name, mlir::MLIRContext* context) {
  if (!name.contains('.') || name.starts_with("."))
    return false;
  // MLIR loads a dialect when the parser reaches its first use, which may be further down.
  context->getOrLoadDialect(name.split('.').first);
  return !mlir::RegisteredOperationName::lookup(name, context);
}

Counts missingIn(llvm::StringRef text, mlir::MLIRContext* context) {
  Counts counts;
  Scanner(text).forEachName(
      [&](llvm::StringRef name) {
        if (isMissing(name, context))
          ++counts[name.str()];
      },
      [](const std::string&) {});
  return counts;
}

/// Whether `name`, as Scanner reports it, is an attribute or type that its dialect lacks.
bool isMissingAttributeOrType(llvm::StringRef name, mlir::MLIRContext* context) {
  const bool isType = name.consume_front("!");
  return (isType || name.consume_front("#")) && name.contains('.') &&
         context->getOrLoadDialect(name.split('.').first) != nullptr &&
         !(isType ? mlir::AbstractType::lookup(name, context).has_value()
                  : mlir::AbstractAttribute::lookup(name, context).has_value());
}

/// The attributes and types in the text that `dialect` lacks.
Counts missingAttributesIn(llvm::StringRef text, llvm::StringRef dialect,
                           mlir::MLIRContext* context) {
  Counts counts;
  Scanner(text).forEachName([](llvm::StringRef) {},
                            [&](const std::string& name) {
                              if (llvm::StringRef(name).drop_front().split('.').first == dialect &&
                                  isMissingAttributeOrType(name, context))
                                ++counts[name];
                            });
  return counts;
}

/// The text that contains `at`, from its second line on if `at` is not in the first line. MLIR's
/// lexer ends the text by a zero byte and knows the line number of `at`; so that many line ends are
/// searched backwards.
llvm::StringRef textAround(mlir::OpAsmParser& parser, llvm::SMLoc at) {
  const char* begin = at.getPointer();
  if (auto place = llvm::dyn_cast<mlir::FileLineColLoc>(parser.getEncodedSourceLoc(at)))
    for (unsigned line = place.getLine(); line > 1; --line)
      do
        --begin;
      while (*begin != '\n');
  return begin;
}

/// The name that begins at `line` and `column`, which count from 1. Names of attributes and types
/// include the text from `#` or `!` on, and dialect<name is given as dialect.name. Empty if there
/// is none.
std::string nameAt(llvm::StringRef text, unsigned line, unsigned column) {
  if (line == 0 || column == 0)
    return {};
  for (; line > 1; --line)
    text = text.split('\n').second;
  const llvm::StringRef name = text.substr(column - 1).take_while(isNameByte);
  llvm::StringRef before = text.take_front(column - 1);
  if (!before.consume_back(".") && !before.consume_back("<"))
    return name.str();
  const std::size_t start = before.find_last_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
  if (start == llvm::StringRef::npos || (before[start] != '#' && before[start] != '!'))
    return name.str();
  return (before.substr(start) + "." + name).str();
}

/// The operation of the same dialect with the smallest edit distance, if that is at most a fifth of
/// the name's length.
std::optional<std::string> nearest(mlir::OperationName name) {
  std::optional<std::string> best;
  const llvm::StringRef sought = name.stripDialect();
  auto limit = static_cast<unsigned>(1 + sought.size() / 5);
  // MLIR 22's own query for the operations of one dialect can miss some of them.
  for (mlir::RegisteredOperationName op : name.getContext()->getRegisteredOperations()) {
    if (op.getDialectNamespace() != name.getDialectNamespace())
      continue;
    const unsigned distance = op.stripDialect().edit_distance(sought, true, limit);
    if (distance < limit) {
      limit = distance;
      best = op.getStringRef().str();
    }
  }
  return best;
}

/// How to convert operations of another compiler's dialect to StableHLO.
llvm::StringRef remedy(llvm::StringRef dialect) {
  return llvm::StringSwitch<llvm::StringRef>(dialect)
      .Cases({"tf", "tf_device", "tf_executor", "tf_saved_model"},
             "TensorFlow's tf-to-stablehlo-translate turns a SavedModel into StableHLO")
      .Case("tfl", "export the model that the TFLite file was made from with TensorFlow's "
                   "tf-to-stablehlo-translate")
      .Case("tosa", "nothing turns TOSA into StableHLO: export the model again from its framework, "
                    "from PyTorch with torch_mlir.fx.export_and_import(model, ..., "
                    "output_type=\"stablehlo\"), from TensorFlow with tf-to-stablehlo-translate")
      .Case("onnx", "onnx-mlir-opt --convert-onnx-to-stablehlo turns ONNX into StableHLO")
      .Cases({"torch", "torch_c"},
             "export the model with torch_mlir.fx.export_and_import(model, ..., "
             "output_type=\"stablehlo\")")
      .Case("mhlo", "export the program as StableHLO, which took MHLO's place")
      .Case("vhlo", "VHLO is read from portable artifacts, not from text")
      .Default("lower it to operations that octavo has before the program is written out");
}

void describeMissing(mlir::InFlightDiagnostic& error, mlir::OperationName name,
                     const Counts& counts) {
  error << "is not among the operations that octavo has; ";
  if (const std::optional<std::string> near = nearest(name))
    error << "did you mean '" << *near << "'?";
  else
    error << remedy(name.getDialectNamespace());
  error.attachNote() << "what the program uses and octavo does not have: " << spell(counts);
}

} // namespace

mlir::ParseResult refuseCustomForm(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  const llvm::SMLoc at = parser.getNameLoc();
  mlir::InFlightDiagnostic error = parser.emitError(at);
  if (state.name.isRegistered())
    error << "has only the generic form; write \"" << state.name.getStringRef() << "\"(...)";
  else
    describeMissing(error, state.name, missingIn(textAround(parser, at), parser.getContext()));
  return error;
}

llvm::LogicalResult verifyHasOperations(mlir::Operation* program) {
  Counts counts;
  mlir::Operation* first = nullptr;
  program->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (op->isRegistered())
      return;
    ++counts[op->getName().getStringRef().str()];
    if (first == nullptr)
      first = op;
  });
  if (first == nullptr)
    return mlir::success();
  mlir::InFlightDiagnostic error = mlir::emitError(first->getLoc());
  error << "operation '" << first->getName().getStringRef() << "' ";
  describeMissing(error, first->getName(), counts);
  return error;
}

bool hasMissingNames(llvm::StringRef text, mlir::MLIRContext* context) {
  bool hasMissing = false;
  Scanner(text).forEachName(
      [&](llvm::StringRef name) { hasMissing = hasMissing || isMissing(name, context); },
      [&](const std::string& name) {
        hasMissing = hasMissing || isMissingAttributeOrType(name, context);
      });
  return hasMissing;
}

bool standsAtMissingName(llvm::StringRef text, unsigned line, unsigned column,
                         mlir::MLIRContext* context) {
  const std::string name = nameAt(text, line, column);
  return isMissing(name, context) || isMissingAttributeOrType(name, context);
}

void emitMissingNames(mlir::FileLineColLoc at, llvm::StringRef text) {
  mlir::MLIRContext* context = at.getContext();
  const std::string name = nameAt(text, at.getLine(), at.getColumn());
  mlir::InFlightDiagnostic error = mlir::emitError(at);
  if (!isMissingAttributeOrType(name, context)) {
    error << "operation '" << name << "' ";
    describeMissing(error, mlir::OperationName(name, context), missingIn(text, context));
    return;
  }
  const llvm::StringRef dialect = llvm::StringRef(name).drop_front().split('.').first;
  error << (name.front() == '!' ? "type '" : "attribute '") << name
        << "' is not among those that octavo has of " << dialect;
  error.attachNote() << "what the program uses of " << dialect << " and octavo does not have: "
                     << spell(missingAttributesIn(text, dialect, context));
}

} // namespace octavo
