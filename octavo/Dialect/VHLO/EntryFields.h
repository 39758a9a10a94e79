// What the entries of a bytecode file are made of, whichever dialect wrote them.
#pragma once

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APInt.h"

#include <optional>

namespace octavo::vhlo {

/// Reads the fields of one entry of the file's table of types or attributes. What is read is null,
/// with a diagnostic, where it is damaged.
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

  /// A list, its memory taken as elements come: MLIR's readList trusts the count in the file.
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
  /// The bits of a number of `width` bits.
  mlir::FailureOr<llvm::APInt> bits(unsigned width);
  mlir::FailureOr<double> f64() {
    mlir::FailureOr<llvm::APInt> code = bits(64);
    if (failed(code))
      return mlir::failure();
    return code->bitsToDouble();
  }
  /// How many elements a constant of the type has; nothing, with a diagnostic, if the type does not
  /// say or 64 bits do not count them.
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
  /// A tensor or vector and the bytes of its elements.
  mlir::Attribute dense();

  mlir::MLIRContext* context;
  mlir::DialectBytecodeReader& reader;
};

} // namespace octavo::vhlo
