#include "octavo/Session/Binding/ProgramFile.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/ProgramText.h"
#include "octavo/Dialect/VHLO/Artifact.h"
#include "octavo/Session/Binding/Failure.h"
#include "octavo/Session/Binding/ForeignProgram.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Transforms/Legalize/JaxModuleCalls.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

namespace octavo::session {

namespace {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> readText(std::unique_ptr<llvm::MemoryBuffer> text,
                                                           const std::string& name,
                                                           mlir::MLIRContext& context,
                                                           UnreadFunctions& unread) {
  std::string diagnostics;
  llvm::raw_string_ostream stream(diagnostics);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(withPackedBooleans(std::move(text)), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnosticHandler(sources, &context, stream);
  mlir::OwningOpRef<mlir::ModuleOp> program = readProgramText(sources, &context, unread);
  if (!program)
    return failure(fmt::format("{}: not a program that octavo can read; it reads StableHLO as MLIR "
                               "text:\n{}",
                               name, llvm::StringRef(diagnostics).rtrim().str()));
  return program;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> readBinary(llvm::StringRef bytes,
                                                             const std::string& name,
                                                             mlir::MLIRContext& context,
                                                             UnreadFunctions& unread) {
  // MLIR reads numbers in place and needs them aligned, which they are not within a container.
  const auto aligned = llvm::MemoryBuffer::getMemBufferCopy(bytes, name);
  const Diagnostics diagnostics(context);
  mlir::OwningOpRef<mlir::ModuleOp> program;
  bool isValid = false;
  // Nested attributes and types are read and verified by recursion.
  withDeepStack([&] {
    program = vhlo::readBytecode(aligned->getMemBufferRef(), &context, unread);
    isValid = program && succeeded(unread.verify(*program));
  });
  if (!isValid)
    return failure(
        fmt::format("{}: not a program that octavo can read:\n{}", name, diagnostics.found()));
  return program;
}

} // namespace

llvm::Expected<ProgramFile> readProgramFile(const std::filesystem::path& path,
                                            mlir::MLIRContext& context, JaxModuleCalls calls,
                                            Unreadable unreadable) {
  const std::string name = path.string();
  auto buffer = llvm::MemoryBuffer::getFile(name, /*IsText=*/false);
  if (!buffer) {
    if (const auto foreign = foreignFolder(path))
      return failure(fmt::format("{}: {}", name, *foreign));
    return failure(fmt::format("{}: cannot be read: {}", name, buffer.getError().message()));
  }
  return readProgram((*buffer)->getBuffer(), name, context, calls, unreadable);
}

llvm::Expected<ProgramFile> readProgram(llvm::StringRef bytes, const std::string& name,
                                        mlir::MLIRContext& context, JaxModuleCalls calls,
                                        Unreadable unreadable) {
  ProgramFile file;
  UnreadFunctions unread(unreadable == Unreadable::LeftOut ? UnreadFunctions::Policy::LeaveOut
                                                           : UnreadFunctions::Policy::Refuse);
  const auto take = [&](llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> program) -> llvm::Error {
    if (!program)
      return program.takeError();
    file.program = std::move(*program);
    return llvm::Error::success();
  };
  if (vhlo::isBytecode(bytes)) {
    file.form = ProgramForm::Artifact;
    file.version = vhlo::versionOf(bytes);
    if (llvm::Error error = take(readBinary(bytes, name, context, unread)))
      return std::move(error);
  } else if (JaxExport::holds(bytes)) {
    llvm::Expected<JaxExport> container = JaxExport::read(bytes);
    if (!container)
      return failure(fmt::format("{}: {}", name, llvm::toString(container.takeError())));
    file.form = ProgramForm::JaxExport;
    file.version = vhlo::versionOf(container->artifact());
    if (llvm::Error error = take(readBinary(container->artifact(), name, context, unread)))
      return std::move(error);
    file.container = std::move(*container);
  } else if (const auto foreign = foreignProgram(bytes, name)) {
    return failure(fmt::format("{}: {}", name, *foreign));
  } else if (bytes.contains('\0')) {
    return failure(fmt::format("{}: not a program that octavo can read: it is neither MLIR's text "
                               "nor its bytecode, nor what jax.export serializes; the file may be "
                               "damaged or cut short",
                               name));
  } else if (llvm::Error error = take(readText(llvm::MemoryBuffer::getMemBufferCopy(bytes, name),
                                               name, context, unread))) {
    return std::move(error);
  }
  file.leftOut = unread.leftOut();
  if (calls == JaxModuleCalls::Opened && transforms::openJaxModuleCalls(*file.program)) {
    const Diagnostics diagnostics(context);
    if (failed(mlir::verify(*file.program)))
      return failure(fmt::format("{}: a call of octavo.jax is not as octavo.jax makes it:\n{}",
                                 name, diagnostics.found()));
  }
  return file;
}

std::string programText(mlir::ModuleOp program) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  program.print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return text + "\n";
}

bool hasOwnOperations(mlir::ModuleOp program) {
  const auto isOwn = [](mlir::Type type) { return llvm::isa<ir::ScaledType>(type); };
  return program
      .walk([&](mlir::Operation* op) {
        bool own =
            op->getName().getDialectNamespace() == ir::OctavoDialect::getDialectNamespace() ||
            llvm::any_of(op->getResultTypes(), isOwn);
        for (mlir::Region& region : op->getRegions())
          for (mlir::Block& block : region)
            own |= llvm::any_of(block.getArgumentTypes(), isOwn);
        return own ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

llvm::Expected<std::string> programArtifact(mlir::ModuleOp program, const vhlo::Version& target) {
  if (hasOwnOperations(program)) {
    std::string bytes;
    llvm::raw_string_ostream out(bytes);
    if (failed(mlir::writeBytecodeToFile(program, out, mlir::BytecodeWriterConfig("octavo"))))
      return failure("the program cannot be written as MLIR bytecode");
    return bytes;
  }
  const Diagnostics diagnostics(*program.getContext());
  mlir::FailureOr<std::string> bytes = vhlo::writeArtifact(program, target);
  if (failed(bytes))
    return failure("the program cannot be an artifact:\n" + diagnostics.found());
  return *bytes;
}

} // namespace octavo::session
