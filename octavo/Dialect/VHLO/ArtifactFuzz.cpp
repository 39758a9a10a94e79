// Fuzzes readBytecode: any bytes must give a program or diagnostics.
#include "octavo/Dialect/Register.h"
#include "octavo/Dialect/VHLO/Artifact.h"
#include "octavo/Dialect/VHLO/VHLO.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static mlir::DialectRegistry& registry = *[] {
    auto* dialects = new mlir::DialectRegistry;
    octavo::registerDialects(*dialects);
    dialects->insert<octavo::vhlo::VHLODialect>();
    return dialects;
  }();
  // The context keeps all types and attributes, so it is replaced now and then to bound the memory.
  static mlir::MLIRContext* context = nullptr;
  static int runs = 0;
  if (runs++ % 1000 == 0) {
    delete context;
    context = new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
  }
  const mlir::ScopedDiagnosticHandler quiet(context, [](mlir::Diagnostic&) {});
  const auto program = octavo::vhlo::readBytecode(
      llvm::MemoryBufferRef({reinterpret_cast<const char*>(data), size}, "fuzz"), context);
  if (program)
    static_cast<void>(mlir::verify(*program));
  return 0;
}
