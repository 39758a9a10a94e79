#include "octavo/Dialect/MissingOperations.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <map>
#include <optional>

namespace octavo {

namespace {

/// How often each operation is used.
using Counts = std::map<std::string, std::size_t, std::less<>>;

std::string text(const Counts& counts) {
  std::string list;
  for (const auto& [name, count] : counts)
    list += (list.empty() ? "" : ", ") + name +
            (count == 1 ? " (once)" : " (" + std::to_string(count) + " times)");
  return list;
}

bool isNameByte(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; }

/// Finds the names of operations in MLIR's text where they can stand: at the start of a line, after
/// `%x =` and after `{`. That is where programs that are printed have them.
class Scanner {
public:
  explicit Scanner(llvm::StringRef text) : rest(text) {}

  template <typename F> void forEachName(F f) {
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
          f(name);
        startsStatement = false;
      } else if (isNameByte(c) && !llvm::isDigit(c)) {
        const llvm::StringRef name = take(isNameByte);
        const llvm::StringRef next = rest.ltrim(" \t");
        if (startsStatement && name.contains('.') && !next.starts_with("=") &&
            !next.starts_with(",") && !next.starts_with("}"))
          f(name);
        startsStatement = isResult = false;
      } else if (llvm::StringRef("%#!@^").contains(c)) {
        rest = rest.drop_front();
        take([](char at) { return isNameByte(at) || at == ':' || at == '#'; });
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
  template <typename F> llvm::StringRef take(F f) {
    const llvm::StringRef taken = rest.take_while(f);
    rest = rest.drop_front(taken.size());
    return taken;
  }

  /// What is between quotes; up to the end of the line where they are not closed.
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
  bool isResult = false; ///< what was read last is `%x` or a list of such
};

bool isMissing(llvm::StringRef name, mlir::MLIRContext* context) {
  if (!name.contains('.') || name.starts_with("."))
    return false;
  // A dialect is loaded when the parser first comes to it, which may be further down.
  context->getOrLoadDialect(name.split('.').first);
  return !mlir::RegisteredOperationName::lookup(name, context);
}

Counts missingIn(llvm::StringRef text, mlir::MLIRContext* context) {
  Counts counts;
  Scanner(text).forEachName([&](llvm::StringRef name) {
    if (isMissing(name, context))
      ++counts[name.str()];
  });
  return counts;
}

/// The text that `at` points into, from its second line on where that is above `at`: MLIR's lexer
/// ends it by a zero byte, and says the line of the place, so how many ends of lines lie before it.
llvm::StringRef textAround(mlir::OpAsmParser& parser, llvm::SMLoc at) {
  const char* begin = at.getPointer();
  if (auto place = llvm::dyn_cast<mlir::FileLineColLoc>(parser.getEncodedSourceLoc(at)))
    for (unsigned line = place.getLine(); line > 1; --line)
      do
        --begin;
      while (*begin != '\n');
  return begin;
}

/// The name that begins at a line and column, which count from 1; empty where there is none.
llvm::StringRef nameAt(llvm::StringRef text, unsigned line, unsigned column) {
  if (line == 0 || column == 0)
    return {};
  for (; line > 1; --line)
    text = text.split('\n').second;
  return text.substr(column - 1).take_while(isNameByte);
}

/// The name of an operation of the same dialect that is fewest edits away, if those are few enough
/// for a slip of the pen.
std::optional<std::string> nearest(mlir::OperationName name) {
  std::optional<std::string> best;
  const llvm::StringRef sought = name.stripDialect();
  auto limit = static_cast<unsigned>(1 + sought.size() / 5);
  // MLIR 22's own search of one dialect's operations misses them, depending on what else there is.
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

/// What turns operations of another compiler's dialect into StableHLO.
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
  error.attachNote() << "what the program uses and octavo does not have: " << text(counts);
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

bool namesMissingOperations(llvm::StringRef text, mlir::MLIRContext* context) {
  return !missingIn(text, context).empty();
}

bool standsAtMissingOperation(llvm::StringRef text, unsigned line, unsigned column,
                              mlir::MLIRContext* context) {
  return isMissing(nameAt(text, line, column), context);
}

void emitMissingOperations(mlir::FileLineColLoc at, llvm::StringRef text) {
  mlir::MLIRContext* context = at.getContext();
  const llvm::StringRef name = nameAt(text, at.getLine(), at.getColumn());
  mlir::InFlightDiagnostic error = mlir::emitError(at);
  error << "operation '" << name << "' ";
  describeMissing(error, mlir::OperationName(name, context), missingIn(text, context));
}

} // namespace octavo
