// What MLIR reports, as text for an error.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace octavo {

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
            out << diagnostic.getLocation() << ": ";
          out << diagnostic;
          return mlir::success();
        }) {}
  const std::string& found() const { return text; }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace octavo
