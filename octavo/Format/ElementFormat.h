// Element formats: a table with one row for each format, and the constants derived from a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace octavo::format {

/// What a format does with the codes that IEEE 754 gives to infinities, NaN and negative zero.
enum class Specials : std::uint8_t {
  Ieee,           ///< all-ones exponent: Inf where the significand is 0, else NaN (IEEE 754, 3.4)
  NanOnly,        ///< FN: no Inf; exponent and trailing significand all ones is NaN (OCP FP8, E4M3)
  None,           ///< every code is a finite number (OCP MX FP6, FP4; Tesla CFloat8)
  UnsignedZero,   ///< FNUZ: no Inf, no -0; the code of -0 is the one NaN
  Scale,          ///< no sign, no zero, no Inf; the all-ones code is NaN (OCP MX 5.4.1, E8M0)
  TwosComplement, ///< a two's complement integer times 2^-bias (OCP MX 5.3.4, INT8)
};

/// One element format. The fields are independent facts; the member functions derive the others.
/// A spelling is empty if that system does not have the format.
struct ElementFormat {
  std::string_view name;
  int exponentBits;
  int trailingSignificandBits;
  int bias;
  Specials specials;
  std::string_view mlir;
  std::string_view numpy; ///< NumPy and ml_dtypes
  std::string_view torch;
  std::string_view safetensors;
  int dlpack; ///< DLDataTypeCode of DLPack 1.1 (2 for every IEEE float); -1 if there is none
  std::string_view ocp;
  std::string_view source; ///< the document that defines the format

  /// The spelling in IR: MLIR's, or octavo's name if MLIR has no such type.
  constexpr std::string_view irName() const { return mlir.empty() ? name : mlir; }

  constexpr bool isSigned() const { return specials != Specials::Scale; }
  constexpr bool isInteger() const { return specials == Specials::TwosComplement; }
  constexpr bool hasInf() const { return specials == Specials::Ieee; }
  constexpr bool hasNan() const {
    return specials != Specials::None && specials != Specials::TwosComplement;
  }
  constexpr bool hasZero() const { return specials != Specials::Scale; }
  constexpr bool hasNegativeZero() const {
    return specials == Specials::Ieee || specials == Specials::NanOnly ||
           specials == Specials::None;
  }
  constexpr bool hasSubnormals() const { return hasZero() && !isInteger(); }

  /// Width of a code in bits.
  constexpr int width() const {
    return (isSigned() ? 1 : 0) + exponentBits + trailingSignificandBits;
  }
  /// Bytes of one unpacked code: 1, 2, 4 or 8.
  constexpr int bytes() const {
    return width() <= 8 ? 1 : width() <= 16 ? 2 : width() <= 32 ? 4 : 8;
  }
  /// Whether a code takes at most one byte.
  constexpr bool isNarrow() const { return width() <= 8; }
  /// Number of codes of a narrow format, special codes included.
  constexpr std::uint32_t codeCount() const { return std::uint32_t{1} << width(); }

  constexpr std::uint64_t codeMask() const {
    return width() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width()) - 1;
  }
  constexpr std::uint64_t signMask() const {
    return isSigned() ? std::uint64_t{1} << (width() - 1) : 0;
  }
  /// Code of the largest finite value.
  constexpr std::uint64_t maxCode() const {
    switch (specials) {
    case Specials::Ieee:
      return infMagnitude() - 1;
    case Specials::NanOnly:
      return (signMask() - 1) - 1;
    case Specials::None:
    case Specials::UnsignedZero:
    case Specials::TwosComplement:
      return signMask() - 1;
    case Specials::Scale:
      return codeMask() - 1;
    }
    return 0;
  }
  /// Code of the most negative finite value; nullopt if the format has no negative values.
  constexpr std::optional<std::uint64_t> lowestCode() const {
    if (!isSigned())
      return std::nullopt;
    return isInteger() ? signMask() : signMask() | maxCode();
  }
  /// Code of +Inf; nullopt if the format has no infinity.
  constexpr std::optional<std::uint64_t> infCode() const {
    return hasInf() ? std::optional(infMagnitude()) : std::nullopt;
  }
  /// The code that encodes a NaN: quiet, and positive if the format has both signs. nullopt if the
  /// format has no NaN.
  constexpr std::optional<std::uint64_t> nanCode() const {
    switch (specials) {
    case Specials::Ieee:
      return infMagnitude() | (std::uint64_t{1} << (trailingSignificandBits - 1));
    case Specials::NanOnly:
      return signMask() - 1;
    case Specials::UnsignedZero:
      return signMask();
    case Specials::Scale:
      return codeMask();
    case Specials::None:
    case Specials::TwosComplement:
      return std::nullopt;
    }
    return std::nullopt;
  }
  constexpr bool isNan(std::uint64_t code) const {
    switch (specials) {
    case Specials::Ieee:
      return (code & (signMask() - 1)) > infMagnitude();
    case Specials::NanOnly:
      return (code & (signMask() - 1)) == signMask() - 1;
    case Specials::UnsignedZero:
    case Specials::Scale:
      return code == *nanCode();
    case Specials::None:
    case Specials::TwosComplement:
      return false;
    }
    return false;
  }
  constexpr bool isInf(std::uint64_t code) const {
    return hasInf() && (code & (signMask() - 1)) == infMagnitude();
  }

  /// Exponent of the smallest normal value; for an integer format, exponent of its unit.
  constexpr int emin() const {
    return isInteger() ? -bias : specials == Specials::Scale ? -bias : 1 - bias;
  }
  /// Exponent of the largest power of two (OCP MX 6.3).
  constexpr int emax() const {
    if (isInteger())
      return trailingSignificandBits - 1 - bias;
    return static_cast<int>(maxCode() >> trailingSignificandBits) - bias;
  }
  /// Exponent of the value of one unit of the trailing significand at emin: every finite value is
  /// an integer multiple of 2^quantumExponent().
  constexpr int quantumExponent() const {
    return isInteger() ? -bias : emin() - trailingSignificandBits;
  }

private:
  constexpr std::uint64_t infMagnitude() const {
    return ((std::uint64_t{1} << exponentBits) - 1) << trailingSignificandBits;
  }
};

/// The table. To add an element format, add a row here.
///
/// Sources: OCP FP8 = OCP 8-bit Floating Point Specification 1.0; OCP MX = OCP Microscaling Formats
/// Specification 1.0; arXiv 2206.02915 (FNUZ) is also StableHLO's RFC of 2023-03-21.
inline constexpr auto kElementFormats = std::to_array<ElementFormat>({
    // clang-format off
    //  name         exp sig  bias  specials                 mlir              numpy              torch            safetensors dlpack ocp        source
    {"e4m3fn",        4,  3,    7, Specials::NanOnly,        "f8E4M3FN",      "float8_e4m3fn",      "float8_e4m3fn",   "F8_E4M3",     10, "E4M3", "OCP FP8, table 2"},
    {"e5m2",          5,  2,   15, Specials::Ieee,           "f8E5M2",        "float8_e5m2",        "float8_e5m2",     "F8_E5M2",     12, "E5M2", "OCP FP8, table 2"},
    {"e4m3",          4,  3,    7, Specials::Ieee,           "f8E4M3",        "float8_e4m3",        "",                "",             8, "",     "StableHLO RFC of 2024-08-08"},
    {"e3m4",          3,  4,    3, Specials::Ieee,           "f8E3M4",        "float8_e3m4",        "",                "",             7, "",     "StableHLO RFC of 2024-08-08"},
    {"e4m3fnuz",      4,  3,    8, Specials::UnsignedZero,   "f8E4M3FNUZ",    "float8_e4m3fnuz",    "float8_e4m3fnuz", "F8_E4M3FNUZ", 11, "",     "arXiv 2206.02915"},
    {"e5m2fnuz",      5,  2,   16, Specials::UnsignedZero,   "f8E5M2FNUZ",    "float8_e5m2fnuz",    "float8_e5m2fnuz", "F8_E5M2FNUZ", 13, "",     "arXiv 2206.02915"},
    {"e4m3b11fnuz",   4,  3,   11, Specials::UnsignedZero,   "f8E4M3B11FNUZ", "float8_e4m3b11fnuz", "",                "",             9, "",     "arXiv 1812.08011 (hybrid FP8, bias 11)"},
    {"e3m2fn",        3,  2,    3, Specials::None,           "f6E3M2FN",      "float6_e3m2fn",      "",                "F6_E3M2",     16, "E3M2", "OCP MX 5.3.2"},
    {"e2m3fn",        2,  3,    1, Specials::None,           "f6E2M3FN",      "float6_e2m3fn",      "",                "F6_E2M3",     15, "E2M3", "OCP MX 5.3.2"},
    {"e2m1fn",        2,  1,    1, Specials::None,           "f4E2M1FN",      "float4_e2m1fn",      "float4_e2m1fn_x2", "F4",       17, "E2M1", "OCP MX 5.3.3"},
    {"e8m0fnu",       8,  0,  127, Specials::Scale,          "f8E8M0FNU",     "float8_e8m0fnu",     "float8_e8m0fnu",  "F8_E8M0",     14, "E8M0", "OCP MX 5.4.1"},
    {"cfloat8_1_4_3", 4,  3,    7, Specials::None,           "",              "",                   "",                "",            -1, "",     "Tesla, Configurable Floating Point Formats (2021), table 3"},
    {"cfloat8_1_5_2", 5,  2,   15, Specials::None,           "",              "",                   "",                "",            -1, "",     "Tesla, Configurable Floating Point Formats (2021), table 3"},
    {"int8",          0,  7,    6, Specials::TwosComplement, "i8",            "int8",               "int8",            "I8",           0, "INT8", "OCP MX 5.3.4"},
    {"bf16",          8,  7,  127, Specials::Ieee,           "bf16",          "bfloat16",           "bfloat16",        "BF16",         4, "",     "IEEE 754 binary32 without its low 16 bits"},
    {"f16",           5, 10,   15, Specials::Ieee,           "f16",           "float16",            "float16",         "F16",          2, "",     "IEEE 754 binary16"},
    {"f32",           8, 23,  127, Specials::Ieee,           "f32",           "float32",            "float32",         "F32",          2, "FP32", "IEEE 754 binary32"},
    {"f64",          11, 52, 1023, Specials::Ieee,           "f64",           "float64",            "float64",         "F64",          2, "",     "IEEE 754 binary64"},
// clang-format on
#include "octavo/Format/MoreElementFormats.inc"
});

/// The row named `name` (octavo's own spelling). An unknown name does not compile.
consteval const ElementFormat& element(std::string_view name) {
  for (const ElementFormat& row : kElementFormats)
    if (row.name == name)
      return row;
  throw "no such element format";
}

/// The row with this spelling: octavo's own name, or the MLIR, NumPy, torch or safetensors spelling
/// in any case. Octavo's names come first. Null if no row has it.
const ElementFormat* findElementFormat(std::string_view spelling);

/// Whether both are the same row. Rows are identified by name.
constexpr bool operator==(const ElementFormat& a, const ElementFormat& b) {
  return a.name == b.name;
}

} // namespace octavo::format
