// A program in memory: read from a file, verified, with its functions' arguments and results named.
#pragma once

#include "octavo/Program/Values/Argument.h"
#include "octavo/Program/Values/Donation.h"
#include "octavo/Session/Binding/JaxExport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::session {

/// A context in which every dialect of the project can be read. It has no threads of its own.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Reads and verifies a program in any form of ProgramFile.h.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> loadProgram(const std::filesystem::path& path,
                                                              mlir::MLIRContext& context);

/// The function of that name; without one, the public function @main, or else the only public
/// function. The error lists the functions that there are.
llvm::Expected<mlir::func::FuncOp> findFunction(mlir::ModuleOp program, llvm::StringRef name = {});

/// The functions that check themselves: those that have operations check.expect_*, or custom calls
/// of check.*, and take no arguments, in the order of the program.
std::vector<mlir::func::FuncOp> selfChecks(mlir::ModuleOp program);

/// The arguments of a function. Their names: the attribute `octavo.name`, else the name that the
/// location gives, as JAX writes it, or the attribute `jax.global_constant`, where no other
/// argument has the same, else `argN`. Fails on two arguments with one `octavo.name`, and on types
/// that are not ranked tensors.
llvm::Expected<std::vector<program::Argument>> argumentsOf(mlir::func::FuncOp function);

/// Marks the arguments of these names as weights (octavo.parameter); other names are nobody's.
/// Fails as argumentsOf does.
llvm::Error markParameters(mlir::func::FuncOp function, std::span<const std::string> names);

/// Gives the argument that says which of the container's platforms the program runs on the number
/// of this machine's, as JAX names it.
void choosePlatform(std::vector<program::Argument>& arguments,
                    const std::optional<JaxExport>& container);

/// The results' names: the attribute `octavo.name`, else `jax.result_info` where no other result
/// has the same, else `outputN`.
std::vector<std::string> resultNames(mlir::func::FuncOp function);

/// All that isDonatedTo allows, result by result.
std::vector<program::Donation> donationsOf(mlir::func::FuncOp function);

} // namespace octavo::session
