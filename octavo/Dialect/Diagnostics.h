// What MLIR reports, as text for an error.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace octavo {

/// What the source calls an operation, as JAX writes it: the outermost name; empty where there is
/// none.
inline std::string sourceName(mlir::Location location) {
  std::string text;
  location->walk([&](mlir::Location part) {
    auto name = llvm::dyn_cast<mlir::NameLoc>(part);
    if (!name)
      return mlir::WalkResult::advance();
    text = name.getName().str();
    return mlir::WalkResult::interrupt();
  });
  return text;
}

/// FILE:LINE:COLUMN; where a location has none, its sourceName, or what else it says.
inline std::string locationText(mlir::Location location) {
  std::string text;
  location->walk([&](mlir::Location part) {
    auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part);
    if (!file)
      return mlir::WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine()) + ":" +
            llvm::Twine(file.getColumn()))
               .str();
    return mlir::WalkResult::interrupt();
  });
  if (text.empty())
    text = sourceName(location);
  if (text.empty())
    llvm::raw_string_ostream(text) << location;
  return text;
}

/// What the context reports while this stands, as text.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext& context)
      : handler(&context, [this](mlir::Diagnostic& diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
            return mlir::success();
          if (!text.empty())
            text += '\n';
          llvm::raw_string_ostream out(text);
          const auto place = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
          // Line 0 stands for the file as a whole, which every message begins with.
          if (!llvm::isa<mlir::UnknownLoc>(diagnostic.getLocation()) &&
              !(place && place.getLine() == 0))
            out << locationText(diagnostic.getLocation()) << ": ";
          out << diagnostic;
          return mlir::success();
        }) {}
  const std::string& found() const { return text; }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace octavo
