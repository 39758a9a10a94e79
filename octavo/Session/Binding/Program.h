// Programs in memory: reading them, and the names of their functions' arguments and results.
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

/// A context with all dialects of the project. It creates no threads.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Reads and verifies a program in any form that ProgramFile.h lists.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> loadProgram(const std::filesystem::path& path,
                                                              mlir::MLIRContext& context);

/// The function of that name. Without a name: the public function @main, or else the only public
/// function. The error lists the functions.
llvm::Expected<mlir::func::FuncOp> findFunction(mlir::ModuleOp program, llvm::StringRef name = {});

/// The functions without arguments that contain check.expect_* operations or custom calls of
/// check.*, in program order.
std::vector<mlir::func::FuncOp> selfChecks(mlir::ModuleOp program);

/// The arguments of a function. An argument's name is the first of these that exists:
/// - the attribute `octavo.name`,
/// - the name in its location, as JAX writes it, or `jax.global_constant`, if it is unique,
/// - `argN`.
///
/// Fails if
/// - two arguments have one `octavo.name`,
/// - a type is neither a ranked tensor of an octavo element type nor a static scaled tensor, or
/// - `tf.aliasing_output` names no result of the argument's type.
llvm::Expected<std::vector<program::Argument>> argumentsOf(mlir::func::FuncOp function);

/// Marks the arguments of these names as weights (octavo.parameter). Unknown names are ignored.
/// Fails like argumentsOf.
llvm::Error markParameters(mlir::func::FuncOp function, std::span<const std::string> names);

/// Sets the argument for the container's platform, if there is one, to the index of this machine's
/// platform by JAX's name.
void choosePlatform(std::vector<program::Argument>& arguments,
                    const std::optional<JaxExport>& container);

/// The names of the results: the attribute `octavo.name`, else `jax.result_info` if it is unique,
/// else `outputN`.
std::vector<std::string> resultNames(mlir::func::FuncOp function);

/// All donations that isDonatedTo allows, ordered by result.
std::vector<program::Donation> donationsOf(mlir::func::FuncOp function);

} // namespace octavo::session
