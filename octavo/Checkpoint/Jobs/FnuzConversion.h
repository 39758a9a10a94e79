// FP8 weights re-spelled between OCP's formats and the FNUZ formats of AMD's MI300: bytes that stay
// or change by a table, scales that double or halve. docs/semantics.md, F6 to F11.
#pragma once

#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Numerics/Fnuz.h"

#include <tl/expected.hpp>

namespace octavo::checkpoint {

enum class FnuzDirection : std::uint8_t { ToFnuz, ToOcp };

/// Which codes a FNUZ checkpoint may have.
enum class FnuzLargest : std::uint8_t {
  Format, ///< up to +-240 of e4m3fnuz
  Ocp,    ///< up to half of OCP's largest, +-224: codes beyond are limited to it
};

struct FnuzChoice {
  const Layout* layout; ///< of the source, and of the result
  FnuzDirection direction;
  numerics::FnuzOptions codes = {};
  numerics::ScaleRange scales = numerics::ScaleRange::Refuse;
  FnuzLargest largest = FnuzLargest::Format; ///< ToFnuz only; also of layers that are FNUZ already
  Doubts allowed = {};
};

/// Plans a checkpoint of the same layout, names and shapes whose FP8 elements are of the twin
/// formats: dtype F8_E4M3FNUZ or F8_E5M2FNUZ, or back. Weight scales and static activation scales
/// change with them, so that every value stays, bit for bit, where its code has a twin; steps
/// report, by weight, what has none. Scales of the key-value cache stay: readers on such hardware
/// double them as they load. Errors: no such layer; doubts that are not allowed; while the job
/// runs, codes and scales that the choice refuses, with their place.
tl::expected<Rewrite, Error> planFnuzConversion(const Folder& folder, const FnuzChoice& choice,
                                                Json options);

} // namespace octavo::checkpoint
