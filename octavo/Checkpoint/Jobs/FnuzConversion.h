// Converts FP8 weights between OCP's formats and the FNUZ formats of AMD's MI300: bytes stay or
// change by a table, scales double or halve. docs/semantics.md, F6 to F11.
#pragma once

#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Numerics/Fnuz.h"

#include <tl/expected.hpp>

namespace octavo::checkpoint {

/// Direction of the conversion.
enum class FnuzDirection : std::uint8_t { ToFnuz, ToOcp };

/// The largest magnitude that a FNUZ checkpoint may contain.
enum class FnuzLargest : std::uint8_t {
  Format, ///< the format's own: 240 for e4m3fnuz
  Ocp,    ///< half of OCP's largest, 224: larger codes are limited to it
};

/// Options of the conversion.
struct FnuzChoice {
  const Layout* layout; ///< layout of source and result
  FnuzDirection direction;
  numerics::FnuzOptions codes = {}; ///< what becomes of codes without a twin
  numerics::ScaleRange scales = numerics::ScaleRange::Refuse; ///< for scales out of range
  FnuzLargest largest = FnuzLargest::Format; ///< ToFnuz only; also for layers already FNUZ
  Doubts allowed = {};
};

/// Plans a checkpoint with the same layout, names and shapes whose FP8 elements have the twin dtype
/// (F8_E4M3FNUZ, F8_E5M2FNUZ, or back). Weight scales and static activation scales change with the
/// elements, so each value stays, bit for bit, if its code has a twin. The steps report codes
/// without a twin, by weight. Scales of the key-value cache stay: readers on MI300 double them when
/// they load. Errors: no such layer; doubts that are not allowed. While the job runs: codes and
/// scales that `choice` refuses, with their position.
tl::expected<Rewrite, Error> planFnuzConversion(const Folder& folder, const FnuzChoice& choice,
                                                Json options);

} // namespace octavo::checkpoint
