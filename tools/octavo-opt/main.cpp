// octavo-opt: MLIR's driver with the project's dialects and passes, for tests and for inspecting a
// pass.
#include "octavo/Dialect/MissingNames.h"
#include "octavo/Dialect/ProgramText.h"
#include "octavo/Dialect/Register.h"
#include "octavo/Transforms/Passes.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

namespace {

/// Runs before all other passes, unless unknown operations are allowed. Names them before the
/// verifier refuses them in MLIR's words.
class RefuseMissingOperations
    : public mlir::PassWrapper<RefuseMissingOperations, mlir::OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefuseMissingOperations)

  void runOnOperation() override {
    if (mlir::failed(octavo::verifyHasOperations(getOperation())) ||
        mlir::failed(mlir::verify(getOperation())))
      signalPassFailure();
  }
};

/// Reports errors that MLIR's driver would not report or not survive: nesting beyond its stack, and
/// unknown operations in custom form.
mlir::LogicalResult checkText(const llvm::MemoryBuffer& input,
                              const mlir::DialectRegistry& registry,
                              const mlir::MlirOptMainConfig& config) {
  if (mlir::isBytecode(input))
    return mlir::success();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(input), llvm::SMLoc());
  const mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  if (failed(octavo::checkNesting(input, &context)))
    return mlir::failure();
  const bool isOneProgram = config.inputSplitMarker().empty();
  if (!isOneProgram || config.shouldVerifyDiagnostics() ||
      config.shouldAllowUnregisteredDialects() ||
      !octavo::hasMissingNames(input.getBuffer(), &context))
    return mlir::success();
  return mlir::success(static_cast<bool>(octavo::readProgramText(sources, &context)));
}

mlir::LogicalResult drive(int argc, char** argv) {
  mlir::DialectRegistry registry;
  octavo::registerDialects(registry);
  octavo::transforms::registerOctavoPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerSCCPPass();
  mlir::registerSymbolDCEPass();
  const auto [inputName, outputName] =
      mlir::registerAndParseCLIOptions(argc, argv, "octavo's passes\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::MlirOptMain(argc, argv, inputName, outputName, registry);
  const bool allowsAll = config.shouldAllowUnregisteredDialects();
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> input = mlir::openInputFile(inputName, &problem);
  std::unique_ptr<llvm::ToolOutputFile> output =
      input ? mlir::openOutputFile(outputName, &problem) : nullptr;
  if (!output) {
    llvm::errs() << problem << "\n";
    return mlir::failure();
  }
  if (!mlir::isBytecode(*input))
    input = octavo::withPackedBooleans(std::move(input));
  if (mlir::failed(checkText(*input, registry, config)))
    return mlir::failure();
  if (!allowsAll) {
    config.allowUnregisteredDialects(true);
    config.verifyOnParsing(false);
    config.setPassPipelineSetupFn([asked = config](mlir::PassManager& passes) {
      passes.addPass(std::make_unique<RefuseMissingOperations>());
      return asked.setupPassPipeline(passes);
    });
  }
  if (mlir::failed(mlir::MlirOptMain(output->os(), std::move(input), registry, config)))
    return mlir::failure();
  output->keep();
  return mlir::success();
}

} // namespace

int main(int argc, char** argv) {
  const llvm::InitLLVM initialization(argc, argv);
  mlir::LogicalResult result = mlir::failure();
  octavo::withDeepStack([&] { result = drive(argc, argv); });
  return mlir::asMainReturnCode(result);
}
