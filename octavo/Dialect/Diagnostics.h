// MLIR's diagnostics and locations as text for error messages.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace octavo {

/// The name that the source gives an operation: the outermost NameLoc, as JAX writes it. Empty if
/// the location has none.
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

/// FILE:LINE:COLUMN of the first FileLineColLoc. If the location has none: its sourceName, else
/// MLIR's own text of the location.
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

/// Collects the errors that the context reports during the lifetime of this object. Other
/// diagnostics are dropped.
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
          // Line 0 stands for the whole file. The caller names the file at the beginning of the
          // message.
          if (!llvm::isa<mlir::UnknownLoc>(diagnostic.getLocation()) &&
              !(place && place.getLine() == 0))
            out << locationText(diagnostic.getLocation()) << ": ";
          out << diagnostic;
          return mlir::success();
        }) {}
  /// One error a line, each with its location if that is known. Empty: no error.
  const std::string& found() const { return text; }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace octavo
