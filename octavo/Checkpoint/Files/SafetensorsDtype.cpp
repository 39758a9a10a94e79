#include "octavo/Checkpoint/Files/SafetensorsDtype.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace octavo::checkpoint {

namespace {

using numerics::ComplexType;
using numerics::ElementType;
using numerics::IntegerType;

// The order of enum Dtype of safetensors 0.8. The properties of a float come from its row in
// kElementFormats.
constexpr auto kEnumeration = std::to_array<std::string_view>(
    {"BOOL",    "F4",          "F6_E2M3",     "F6_E3M2", "U8",  "I8",  "F8_E5M2", "F8_E4M3",
     "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16",     "U16", "F16", "BF16",    "I32",
     "U32",     "F32",         "C64",         "F64",     "I64", "U64"});

std::vector<SafetensorsDtype> makeTable() {
  std::vector<SafetensorsDtype> rows = {
      {"BOOL", 8, IntegerType{1, false}},  {"U8", 8, IntegerType{8, true}},
      {"I8", 8, IntegerType{8, false}},    {"I16", 16, IntegerType{16, false}},
      {"U16", 16, IntegerType{16, true}},  {"I32", 32, IntegerType{32, false}},
      {"U32", 32, IntegerType{32, true}},  {"C64", 64, ComplexType{&format::element("f32")}},
      {"I64", 64, IntegerType{64, false}}, {"U64", 64, IntegerType{64, true}},
  };
  for (const format::ElementFormat& row : format::kElementFormats)
    if (!row.safetensors.empty() && !row.isInteger())
      rows.push_back({row.safetensors, row.width(), ElementType(row)});

  const auto place = [](const SafetensorsDtype& dtype) -> std::pair<std::size_t, bool> {
    const auto* found = std::find(kEnumeration.begin(), kEnumeration.end(), dtype.name);
    if (found != kEnumeration.end())
      return {static_cast<std::size_t>(found - kEnumeration.begin()), false};
    const std::string_view last = dtype.bits < 6    ? "F4"
                                  : dtype.bits < 8  ? "F6_E3M2"
                                  : dtype.bits < 16 ? "F8_E5M2FNUZ"
                                  : dtype.bits < 32 ? "BF16"
                                  : dtype.bits < 64 ? "F32"
                                                    : "U64";
    return {static_cast<std::size_t>(std::find(kEnumeration.begin(), kEnumeration.end(), last) -
                                     kEnumeration.begin()),
            true};
  };
  std::sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return std::pair(place(a), a.name) < std::pair(place(b), b.name);
  });
  return rows;
}

} // namespace

std::span<const SafetensorsDtype> safetensorsDtypes() {
  static const std::vector<SafetensorsDtype> table = makeTable();
  return table;
}

const SafetensorsDtype* findSafetensorsDtype(std::string_view name) {
  for (const SafetensorsDtype& dtype : safetensorsDtypes())
    if (dtype.name == name)
      return &dtype;
  return nullptr;
}

const SafetensorsDtype* findSafetensorsDtype(const ElementType& type) {
  if (type.isFloat() && type.format().isInteger())
    return findSafetensorsDtype(type.format().safetensors);
  for (const SafetensorsDtype& dtype : safetensorsDtypes())
    if (dtype.type == type)
      return &dtype;
  return nullptr;
}

} // namespace octavo::checkpoint
