#include "octavo/Transforms/Walks/SourceNames.h"

#include "llvm/Support/Path.h"

namespace octavo::transforms {

/// The name in a location; empty if there is none.
static std::string nameIn(mlir::Location location) {
  if (auto named = llvm::dyn_cast<mlir::NameLoc>(location))
    return named.getName().str();
  if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(location))
    return nameIn(call.getCallee());
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location part : fused.getLocations())
      if (std::string name = nameIn(part); !name.empty())
        return name;
  return {};
}

std::string sourceName(mlir::Location location) {
  if (std::string name = nameIn(location); !name.empty())
    return name;
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>())
    return (llvm::sys::path::filename(file.getFilename()) + ":" + llvm::Twine(file.getLine()) +
            ":" + llvm::Twine(file.getColumn()))
        .str();
  return "?";
}

} // namespace octavo::transforms
