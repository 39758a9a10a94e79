#include "octavo/Dialect/ProgramText.h"

#include "octavo/Dialect/MissingNames.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/thread.h"

#include <algorithm>
#include <array>
#include <optional>

namespace octavo {

namespace {

/// MLIR's parser takes 4 KB of stack a region, several times that under sanitizers.
constexpr unsigned kDeepStack = 256u << 20;

/// The end of a string that opens at `at`: MLIR's strings do not go over the ends of lines.
std::size_t endOfString(llvm::StringRef text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    at += text[at] == '\\' ? 1 : 0;
  return std::min(at, text.size());
}

/// How many booleans a constant has whose text goes on with this behind its digits; nothing where
/// it is not of booleans.
std::optional<std::int64_t> booleansOf(llvm::StringRef behind) {
  for (const llvm::StringRef token : {"\"", ">", ":"}) {
    behind = behind.ltrim();
    if (!behind.consume_front(token))
      return std::nullopt;
  }
  behind = behind.ltrim();
  if (!behind.consume_front("tensor<") && !behind.consume_front("vector<"))
    return std::nullopt;
  std::int64_t count = 1;
  for (std::int64_t extent = 0; !behind.consumeInteger(10, extent) && behind.consume_front("x");)
    if (llvm::MulOverflow(count, extent, count))
      return std::nullopt;
  return behind.starts_with("i1>") || behind.starts_with("i1,") ? std::optional(count)
                                                                : std::nullopt;
}

} // namespace

std::unique_ptr<llvm::MemoryBuffer> withPackedBooleans(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  constexpr llvm::StringLiteral kOpening = "dense<\"0x";
  const llvm::StringRef text = buffer->getBuffer();
  std::unique_ptr<llvm::WritableMemoryBuffer> packed;
  for (std::size_t at = 0; (at = text.find(kOpening, at)) != llvm::StringRef::npos;) {
    const std::size_t end = endOfString(text, at + kOpening.find('"'));
    at += kOpening.size();
    const llvm::StringRef digits = text.slice(at, end);
    const std::optional<std::int64_t> count = booleansOf(text.drop_front(end));
    std::string bytes;
    // A single byte is the same either way.
    if (!count || *count < 2 || !llvm::tryGetFromHex(digits, bytes) ||
        std::int64_t(bytes.size()) != *count ||
        llvm::any_of(bytes, [](char byte) { return byte != 0 && byte != 1; }))
      continue;
    std::string bits(llvm::divideCeil(bytes.size(), std::size_t{8}), '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bits[i / 8] = static_cast<char>(bits[i / 8] | bytes[i] << i % 8);
    if (!packed) {
      packed = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(text.size(),
                                                                 buffer->getBufferIdentifier());
      llvm::copy(text, packed->getBufferStart());
    }
    std::string constant = llvm::toHex(bits) + '"';
    constant.resize(digits.size() + 1, ' '); // so that what follows stays in its column
    llvm::copy(constant, packed->getBufferStart() + at);
  }
  return packed ? std::move(packed) : std::move(buffer);
}

llvm::LogicalResult checkNesting(const llvm::MemoryBuffer& buffer, mlir::MLIRContext* context) {
  const llvm::StringRef text = buffer.getBuffer();
  constexpr llvm::StringLiteral kOpen = "({[<", kClose = ")}]>";
  std::array<unsigned, kOpen.size()> depth{};
  unsigned line = 1;
  std::size_t lineStart = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      lineStart = at + 1;
    } else if (c == '"') {
      at = endOfString(text, at);
      at -= at < text.size() && text[at] == '\n' ? 1 : 0;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (text.substr(at, 2) == "->" || text.substr(at, 2) == ">=") {
      ++at; // no bracket
    } else if (const std::size_t open = kOpen.find(c); open != llvm::StringRef::npos) {
      if (++depth[open] > kMaxNesting)
        return mlir::emitError(mlir::FileLineColLoc::get(context, buffer.getBufferIdentifier(),
                                                         line,
                                                         static_cast<unsigned>(at - lineStart + 1)))
               << "nests deeper than " << kMaxNesting << " levels of '" << c
               << "', the most that octavo reads";
    } else if (const std::size_t close = kClose.find(c); close != llvm::StringRef::npos) {
      depth[close] -= depth[close] > 0 ? 1 : 0;
    }
  }
  return mlir::success();
}

void withDeepStack(const std::function<void()>& work) {
  llvm::thread(std::optional<unsigned>(kDeepStack), [&] { work(); }).join();
}

mlir::OwningOpRef<mlir::ModuleOp> readProgramText(llvm::SourceMgr& sources,
                                                  mlir::MLIRContext* context) {
  const llvm::MemoryBuffer* buffer = sources.getMemoryBuffer(sources.getMainFileID());
  const llvm::StringRef text = buffer->getBuffer();
  if (failed(checkNesting(*buffer, context)))
    return {};
  mlir::OwningOpRef<mlir::ModuleOp> program;
  mlir::FileLineColLoc refused;
  withDeepStack([&] {
    const mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic& diagnostic) {
      const auto at = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
      if (!at || refused || !standsAtMissingName(text, at.getLine(), at.getColumn(), context))
        return mlir::failure(); // the next handler's
      refused = at;
      return mlir::success();
    });
    program = mlir::parseSourceFile<mlir::ModuleOp>(
        sources, mlir::ParserConfig(context, /*verifyAfterParse=*/false));
  });
  if (refused) {
    emitMissingNames(refused, text);
    return {};
  }
  bool isValid = false;
  if (program)
    withDeepStack([&] {
      isValid =
          mlir::succeeded(verifyHasOperations(*program)) && mlir::succeeded(mlir::verify(*program));
    });
  return isValid ? std::move(program) : mlir::OwningOpRef<mlir::ModuleOp>();
}

} // namespace octavo
