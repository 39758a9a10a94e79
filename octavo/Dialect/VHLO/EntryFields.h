// Readers for the fields of entries in a bytecode file, shared by all dialects.
#pragma once

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APInt.h"

#include <optional>

namespace octavo::vhlo {

/// Reads the fields of one entry of the file's table of types or attributes. Each reader returns
/// null, with a diagnostic, if the entry is damaged.
class EntryFields {
public:
  EntryFields(mlir::MLIRContext* context, mlir::DialectBytecodeReader& reader)
      : context(context), reader(reader) {}

protected:
  std::nullptr_t error(const llvm::Twine& message) {
    reader.emitError(message);
    return nullptr;
  }
  auto emitter() {
    return [this] { return reader.emitError(); };
  }

  /// Reads a list. It grows element by element, because MLIR's readList allocates for the count
  /// that the file states.
  template <typename T, typename Read>
  mlir::LogicalResult list(llvm::SmallVectorImpl<T>& elements, Read read) {
    std::uint64_t count = 0;
    if (failed(reader.readVarInt(count)))
      return mlir::failure();
    for (std::uint64_t i = 0; i < count; ++i)
      if (failed(read(elements.emplace_back())))
        return mlir::failure();
    return mlir::success();
  }
  mlir::LogicalResult types(llvm::SmallVectorImpl<mlir::Type>& elements) {
    return list(elements, [this](mlir::Type& type) { return reader.readType(type); });
  }
  mlir::LogicalResult numbers(llvm::SmallVectorImpl<std::int64_t>& elements) {
    return list(elements, [this](std::int64_t& number) { return reader.readSignedVarInt(number); });
  }
  /// Reads a number of `width` bits.
  mlir::FailureOr<llvm::APInt> bits(unsigned width);
  mlir::FailureOr<double> f64() {
    mlir::FailureOr<llvm::APInt> code = bits(64);
    if (failed(code))
      return mlir::failure();
    return code->bitsToDouble();
  }
  /// The number of elements of a constant of this type. nullopt, with a diagnostic, if the type's
  /// shape is unknown or the number does not fit 64 bits.
  std::optional<std::uint64_t> elementCount(mlir::ShapedType type);

  mlir::Type complex();
  mlir::Type function();
  mlir::Type tensor(bool hasEncoding);
  mlir::Type tuple();
  mlir::Type unrankedTensor();
  mlir::Type quantized();
  mlir::Type quantizedPerAxis();
  mlir::Attribute array();
  mlir::Attribute dictionary();
  mlir::Attribute floating();
  mlir::Attribute integer();
  mlir::Attribute typeAttribute();
  /// Reads a dense constant: a tensor or vector type and the bytes of the elements.
  mlir::Attribute dense();

  mlir::MLIRContext* context;
  mlir::DialectBytecodeReader& reader;
};

} // namespace octavo::vhlo
