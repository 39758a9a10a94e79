#include "python/bindings/JaxBuffers.h"

#include "octavo/Kernels/Pack.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"

#include <algorithm>
#include <array>

namespace octavo::python {

namespace ffi = xla::ffi;

struct DtypeRow {
  ffi::DataType xla;
  std::string_view numpy;
};
constexpr auto kDtypes = std::to_array<DtypeRow>({
    {ffi::DataType::PRED, "bool"},
    {ffi::DataType::S8, "int8"},
    {ffi::DataType::S16, "int16"},
    {ffi::DataType::S32, "int32"},
    {ffi::DataType::S64, "int64"},
    {ffi::DataType::U8, "uint8"},
    {ffi::DataType::U16, "uint16"},
    {ffi::DataType::U32, "uint32"},
    {ffi::DataType::U64, "uint64"},
    {ffi::DataType::F16, "float16"},
    {ffi::DataType::BF16, "bfloat16"},
    {ffi::DataType::F32, "float32"},
    {ffi::DataType::F64, "float64"},
    {ffi::DataType::F8E5M2, "float8_e5m2"},
    {ffi::DataType::F8E4M3, "float8_e4m3"},
    {ffi::DataType::F8E4M3FN, "float8_e4m3fn"},
    {ffi::DataType::F8E4M3B11FNUZ, "float8_e4m3b11fnuz"},
    {ffi::DataType::F8E5M2FNUZ, "float8_e5m2fnuz"},
    {ffi::DataType::F8E4M3FNUZ, "float8_e4m3fnuz"},
    {ffi::DataType::F8E3M4, "float8_e3m4"},
    {ffi::DataType::F4E2M1FN, "float4_e2m1fn"},
    {ffi::DataType::F8E8M0FNU, "float8_e8m0fnu"},
});

std::string numpyName(ffi::DataType type) {
  const auto row = std::ranges::find(kDtypes, type, &DtypeRow::xla);
  return row == kDtypes.end() ? fmt::format("XLA's element type {}", static_cast<int>(type))
                              : std::string(row->numpy);
}

std::string_view jaxDtype(const ElementFormat& format) {
  const auto row = std::ranges::find(kDtypes, format.numpy, &DtypeRow::numpy);
  return row == kDtypes.end() ? "uint8" : row->numpy;
}

InputCodes::InputCodes(std::string_view name, const ffi::AnyBuffer& buffer,
                       const ElementFormat& format)
    : data(static_cast<const std::uint8_t*>(buffer.untyped_data())) {
  const std::size_t n = buffer.element_count();
  if (buffer.element_type() == ffi::DataType::F4E2M1FN) {
    unpacked.resize(n);
    kernels::unpack(data, n, format.width(), unpacked.data(), execution());
    data = unpacked.data();
  } else {
    checkCodes(reinterpret_cast<const std::byte*>(data), n, format, name);
  }
}

OutputCodes::OutputCodes(const ffi::AnyBuffer& buffer, const ElementFormat& format)
    : buffer(buffer), width(format.width()),
      isPacked(buffer.element_type() == ffi::DataType::F4E2M1FN) {
  if (isPacked)
    unpacked.resize(buffer.element_count());
}

std::uint8_t* OutputCodes::get() {
  return isPacked ? unpacked.data() : static_cast<std::uint8_t*>(buffer.untyped_data());
}

void OutputCodes::finish() {
  if (isPacked)
    kernels::pack(unpacked.data(), unpacked.size(), width,
                  static_cast<std::uint8_t*>(buffer.untyped_data()), execution());
}

} // namespace octavo::python
