#include "octavo/Checkpoint/Layouts/KvScaleList.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Layouts/PartFit.h"

#include <fmt/format.h>

#include <algorithm>

namespace octavo::checkpoint {

namespace {

std::string valuesText(const Part& part) {
  const auto values = multipliers(part);
  if (!values)
    return values.error().message();
  const auto [least, greatest] = std::ranges::minmax(*values);
  return values->size() == 1
             ? fmt::format("{:.6g}", least)
             : fmt::format("{:.6g} to {:.6g} ({})", least, greatest, values->size());
}

/// Whether both parts can be read and have the same multipliers.
bool areEqual(const Part& a, const Part& b) {
  const auto first = multipliers(a), second = multipliers(b);
  return first && second && *first == *second;
}

/// The member for a role that is a single scale.
std::optional<Part>& placeOf(KvScales& scales, KvRole role) {
  switch (role) {
  case KvRole::Value:
    return scales.value;
  case KvRole::Query:
    return scales.query;
  case KvRole::Probability:
    return scales.probability;
  default:
    return scales.key;
  }
}

} // namespace

bool KvScaleList::add(const KvNameMatch& match, const StoredTensor& tensor, Findings& findings) {
  const SafetensorsEntry& entry = *tensor.entry;
  const format::ElementFormat* format = floatScaleFormat(entry);
  const bool oneAxis =
      std::ranges::count_if(entry.shape, [](std::int64_t n) { return n != 1; }) <= 1;
  if (!format || !oneAxis || entry.begin == entry.end) {
    findings.push_back(finding("kv-scale-dtype", tensor.shard->name(), tensor.name(),
                               fmt::format("found {}", describe(entry))));
    return false;
  }
  KvScales& scales = byModule[std::string(match.module)];
  scales.module = match.module;
  const Part part{tensor, format};
  if (match.role == KvRole::KeyAndValue) {
    pairs.insert_or_assign(scales.module, part);
    return true;
  }
  std::optional<Part>& place = placeOf(scales, match.role);
  if (!place)
    place = part;
  else
    (areEqual(*place, part) ? scales.repeated : scales.rivals).push_back(part);
  return true;
}

void KvScaleList::take(Inventory& inventory, Findings& findings) {
  for (auto& [module, scales] : byModule) {
    // A name for keys or values alone takes precedence over the old name for both.
    if (const auto pair = pairs.find(module); pair != pairs.end()) {
      if (scales.key && scales.value)
        scales.repeated.push_back(pair->second);
      for (std::optional<Part>* part : {&scales.key, &scales.value})
        if (!*part)
          *part = pair->second;
    }
    for (const Part& rival : scales.rivals) {
      const Part& first = *placeOf(scales, matchKvName(rival.tensor.name())->role);
      std::string what = fmt::format("{}, but {} says {} for the same scale", valuesText(rival),
                                     first.tensor.name(), valuesText(first));
      inventory.unread.push_back(
          {rival.tensor.name(), what, "store the right one with `octavo checkpoint scales apply`"});
      findings.push_back(finding("kv-scales-disagree", rival.tensor.shard->name(),
                                 rival.tensor.name(), std::move(what)));
    }
    inventory.kvScales.push_back(std::move(scales));
  }
}

} // namespace octavo::checkpoint
