#include "octavo/Dialect/ProgramText.h"

#include "octavo/Dialect/MissingNames.h"
#include "octavo/Dialect/TextNesting.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/thread.h"

#include <algorithm>
#include <optional>

namespace octavo {

namespace {

/// Bytes. MLIR's parser uses 4 KB of stack for each nested region, and several times as much under
/// sanitizers.
constexpr unsigned kDeepStack = 256u << 20;

/// The number of elements of a constant of booleans, read from `behind`, the text after its digits.
/// nullopt if the constant does not have booleans.
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
    // Both encodings of a single boolean are one byte.
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
    constant.resize(digits.size() + 1, ' '); // keeps the columns of the text that follows
    llvm::copy(constant, packed->getBufferStart() + at);
  }
  return packed ? std::move(packed) : std::move(buffer);
}

llvm::LogicalResult checkNesting(const llvm::MemoryBuffer& buffer, mlir::MLIRContext* context) {
  const llvm::StringRef text = buffer.getBuffer();
  const std::optional<TooDeep> found =
      tooDeepIn(text, {.levels = kMaxNesting, .areKindsApart = true});
  if (!found)
    return mlir::success();
  const llvm::StringRef before = text.take_front(found->at);
  const auto line = static_cast<unsigned>(before.count('\n') + 1);
  const auto column = static_cast<unsigned>(found->at - (before.rfind('\n') + 1) + 1);
  return mlir::emitError(
             mlir::FileLineColLoc::get(context, buffer.getBufferIdentifier(), line, column))
         << found->what;
}

void withDeepStack(const std::function<void()>& work) {
  llvm::thread(std::optional<unsigned>(kDeepStack), [&] { work(); }).join();
}

mlir::OwningOpRef<mlir::ModuleOp> readProgramText(llvm::SourceMgr& sources,
                                                  mlir::MLIRContext* context) {
  UnreadFunctions unread(UnreadFunctions::Policy::Refuse);
  return readProgramText(sources, context, unread);
}

mlir::OwningOpRef<mlir::ModuleOp>
readProgramText(llvm::SourceMgr& sources, mlir::MLIRContext* context, UnreadFunctions& unread) {
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
        return mlir::failure(); // leaves it to the next handler
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
    withDeepStack([&] { isValid = mlir::succeeded(unread.verify(*program)); });
  return isValid ? std::move(program) : mlir::OwningOpRef<mlir::ModuleOp>();
}

} // namespace octavo
