#include "octavo/Compiler/Codegen/ProgramCache.h"

#include "octavo/Compiler/Codegen/LoadedObject.h"
#include "octavo/Kernels/Execution.h"
#include "octavo/Program/Folder/FolderFile.h"
#include "octavo/Program/Steps/File/ProgramFile.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <atomic>

namespace octavo::compiler {

namespace {

/// The most bytes of constants of a cached program.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::size_t constantBytes(mlir::ModuleOp program) {
  std::size_t bytes = 0;
  program->walk([&](mlir::Operation* op) {
    for (const mlir::NamedAttribute& each : op->getAttrs()) {
      if (const auto dense = llvm::dyn_cast<mlir::DenseIntOrFPElementsAttr>(each.getValue()))
        bytes += dense.getRawData().size();
      else if (llvm::isa<mlir::DenseResourceElementsAttr>(each.getValue()))
        bytes += kMostBytes;
    }
  });
  return bytes;
}

/// The parts of an entry, each after its length.
class Parts {
public:
  explicit Parts(llvm::StringRef bytes) : rest(bytes) {}

  std::optional<llvm::StringRef> next() {
    constexpr std::size_t kLength = sizeof(std::uint64_t);
    if (rest.size() < kLength)
      return std::nullopt;
    const std::uint64_t length = llvm::support::endian::read64le(rest.data());
    if (length > rest.size() - kLength)
      return std::nullopt;
    const llvm::StringRef part = rest.substr(kLength, length);
    rest = rest.substr(kLength + length);
    return part;
  }
  bool isAtEnd() const { return rest.empty(); }

  static void add(std::string& bytes, llvm::StringRef part) {
    char length[sizeof(std::uint64_t)];
    llvm::support::endian::write64le(length, part.size());
    bytes.append(length, sizeof length).append(part);
  }

private:
  llvm::StringRef rest;
};

llvm::StringRef textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Without a warning, an unusable cache would cost a second at each start without any visible
/// reason.
void warnOnce(const std::string& refusal) {
  static std::atomic<bool> isSaid = false;
  if (!refusal.empty() && !isSaid.exchange(true))
    llvm::errs() << "octavo: warning: " << refusal << "\n";
}

} // namespace

KeptProgram::KeptProgram(llvm::ArrayRef<mlir::ModuleOp> sources, llvm::StringRef function,
                         std::int64_t fewest) {
  warnOnce(cache.refusal());
  if (!cache.isUsed())
    return;
  static const std::string build =
      buildIdOf(loadedObjectOf(reinterpret_cast<const void*>(&textOf)));
  std::size_t constants = 0;
  for (const mlir::ModuleOp source : sources)
    constants += constantBytes(source);
  if (build.empty() || constants >= kMostBytes)
    return;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "program\n"
      << build << "\n"
      << llvm::sys::getHostCPUName() << "\n"
      << program::productsOfMachine() << "\n"
      << kernels::threadsOf({}) << "\n"
      << function << "\n"
      << fewest << "\n";
  for (mlir::ModuleOp source : sources)
    if (mlir::failed(mlir::writeBytecodeToFile(source, out)))
      return;
  key = digestOf({text});
}

std::optional<Lowered> KeptProgram::find() const {
  if (key.empty())
    return std::nullopt;
  const std::unique_ptr<llvm::MemoryBuffer> entry = cache.find(key);
  if (!entry)
    return std::nullopt;
  Parts parts(entry->getBuffer());
  const auto steps = parts.next(), sections = parts.next();
  if (!steps || !sections)
    return std::nullopt;
  const std::shared_ptr<llvm::WritableMemoryBuffer> constants =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(sections->size(), key,
                                                        llvm::Align(program::kSectionAlignment));
  llvm::copy(*sections, constants->getBufferStart());
  auto program = program::readProgram(
      std::as_bytes(std::span(steps->data(), steps->size())),
      std::as_bytes(std::span(constants->getBufferStart(), sections->size())), constants);
  if (!program)
    return std::nullopt;
  Lowered lowered{std::move(*program), {}};
  while (const auto kernel = parts.next())
    lowered.kernels.push_back(kernel->str());
  if (!parts.isAtEnd() || lowered.kernels.size() != lowered.program.functions.size())
    return std::nullopt;
  return std::move(lowered);
}

void KeptProgram::keep(Lowered& lowered) const {
  if (key.empty())
    return;
  const auto sections = std::make_shared<std::string>();
  const auto sink = [&](std::span<const std::byte> bytes) -> tl::expected<void, std::string> {
    if (sections->size() + bytes.size() > kMostBytes)
      return tl::make_unexpected("more constants than are kept");
    sections->append(textOf(bytes));
    return {};
  };
  const auto steps = program::writeProgram(lowered.program, sink);
  if (!steps)
    return; // it is lowered again
  // Constants that are weights are packed now, so `octavo compile` could not write them from here.
  const auto again = program::readProgram(*steps, std::as_bytes(std::span(*sections)), sections);
  if (!again || llvm::any_of(again->constants, [](const auto& each) { return each.isUnread(); }))
    return;
  std::string entry;
  Parts::add(entry, textOf(*steps));
  Parts::add(entry, *sections);
  for (const std::string& kernel : lowered.kernels)
    Parts::add(entry, kernel);
  cache.keep(key, entry);
}

} // namespace octavo::compiler
