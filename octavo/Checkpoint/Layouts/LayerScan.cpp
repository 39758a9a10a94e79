#include "octavo/Checkpoint/Layouts/LayerScan.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/KvScaleList.h"
#include "octavo/Checkpoint/Layouts/LeakedState.h"
#include "octavo/Checkpoint/Layouts/ModifierTensors.h"
#include "octavo/Checkpoint/Layouts/PartFit.h"
#include "octavo/Checkpoint/Layouts/ScaleNames.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"
#include "octavo/Checkpoint/ModuleNames/ModuleFamilies.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace octavo::checkpoint {

namespace {

struct NameParts {
  std::string_view module, parameter; ///< `parameter` is empty if the spelled name has no `*`
};

/// Splits `name` according to `spelled`; nullopt if it does not match.
std::optional<NameParts> matchName(std::string_view name, std::string_view spelled) {
  const bool ofParameter = spelled.starts_with('*');
  const std::string_view literal = ofParameter ? spelled.substr(1) : spelled;
  if (!name.ends_with(literal))
    return std::nullopt;
  std::string_view rest = name.substr(0, name.size() - literal.size());
  if (!ofParameter) {
    if (rest.empty())
      return NameParts{};
    return rest.ends_with('.') ? std::optional(NameParts{rest.substr(0, rest.size() - 1), {}})
                               : std::nullopt;
  }
  const std::size_t dot = rest.rfind('.');
  const NameParts parts = dot == std::string_view::npos
                              ? NameParts{"", rest}
                              : NameParts{rest.substr(0, dot), rest.substr(dot + 1)};
  return parts.parameter.empty() ? std::nullopt : std::optional(parts);
}

bool isNarrowFloat(const SafetensorsDtype& dtype) {
  return dtype.type && dtype.type->isFloat() && dtype.type->format().isNarrow() &&
         dtype.type->format().isSigned();
}

bool isPlainFloat(const SafetensorsDtype& dtype) {
  return dtype.type && dtype.type->isFloat() && !dtype.type->format().isNarrow();
}

/// Whether a configuration that quantizes a class of modules may mean this weight: a matrix that is
/// neither an embedding nor a norm, nor a head tied to the embedding.
bool mayBeLinear(const Folder& folder, const StoredTensor& tensor) {
  const std::string_view name = tensor.name();
  if (!name.ends_with(".weight") || tensor.entry->shape.size() != 2)
    return false;
  using Kind = WideFamily::Kind;
  const WideFamily* family = wideFamily(moduleOf(name));
  const bool isHead = family && family->kind == Kind::Head;
  const Json& tied = modelMember(folder.config(), "tie_word_embeddings");
  return !family || (family->kind != Kind::Embedding && family->kind != Kind::Normalization &&
                     !(isHead && tied.is_boolean() && tied.get<bool>()));
}

/// Tensors sorted into roles by their names.
struct Roles {
  std::map<std::pair<std::string, std::string>, Candidate> candidates; ///< by module and parameter
  std::map<std::pair<std::string, std::string>, std::string_view> elementNames;
  /// Scales by name, without a candidate.
  std::vector<StoredTensor> orphans;
  std::vector<StoredTensor> others;
};

Roles assignRoles(const Folder& folder, std::span<const LayerSpelling> spellings) {
  const bool hasWords = std::ranges::any_of(spellings, [](const LayerSpelling& spelling) {
    return spelling.elements.shape == ElementShape::PackedWords;
  });
  const auto longestFirst = [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  };
  std::set<std::string_view, decltype(longestFirst)> elementNames(longestFirst),
      scaleNames(longestFirst);
  for (const LayerSpelling& spelling : spellings) {
    elementNames.insert(spelling.elements.name);
    for (const ScaleSpelling* part : {&spelling.scales, &spelling.outer, &spelling.input})
      if (!part->name.empty())
        scaleNames.insert(part->name);
  }

  struct NamedScale {
    StoredTensor tensor;
    std::string_view spelled;
    NameParts parts;
  };
  std::vector<NamedScale> scales;
  // Pairs of module and parameter that have a tensor named like a scale.
  std::set<std::pair<std::string_view, std::string_view>> scaled;
  std::vector<StoredTensor> rest;
  for (const StoredTensor& tensor : folder.tensors()) {
    const auto spelled = std::ranges::find_if(scaleNames, [&](std::string_view name) {
      return matchName(tensor.name(), name).has_value();
    });
    if (spelled == scaleNames.end()) {
      rest.push_back(tensor);
      continue;
    }
    scales.push_back({tensor, *spelled, *matchName(tensor.name(), *spelled)});
    if (!scales.back().parts.parameter.empty())
      scaled.insert({scales.back().parts.module, scales.back().parts.parameter});
  }

  Roles roles;
  for (const StoredTensor& tensor : rest) {
    bool taken = false;
    for (std::string_view spelled : elementNames) {
      const auto parts = matchName(tensor.name(), spelled);
      if (!parts)
        continue;
      const SafetensorsDtype& dtype = *tensor.entry->dtype;
      const bool hasScale = scaled.contains({parts->module, parts->parameter});
      const bool isByte =
          dtype.name == "U8" || dtype.name == "I8" || (hasWords && dtype.name == "U32");
      const bool named = spelled != "*" || parts->parameter == "weight";
      if (isPlainFloat(dtype) || !(hasScale || (named && (isByte || isNarrowFloat(dtype)))))
        continue;
      const std::pair key{std::string(parts->module), std::string(parts->parameter)};
      if (!roles.candidates
               .emplace(key, Candidate{key.first, key.second, tensor, {}, &folder.config()})
               .second)
        break; // "weight" and "weight_packed" of one module: the second is not part of the layer
      roles.elementNames.emplace(key, spelled);
      taken = true;
      break;
    }
    if (!taken)
      roles.others.push_back(tensor);
  }

  for (const NamedScale& scale : scales) {
    const std::string module(scale.parts.module);
    bool taken = false;
    if (!scale.parts.parameter.empty()) {
      const auto found = roles.candidates.find({module, std::string(scale.parts.parameter)});
      if (found != roles.candidates.end()) {
        found->second.scales.emplace(scale.spelled, scale.tensor);
        taken = true;
      }
    } else {
      for (auto found = roles.candidates.lower_bound({module, ""});
           found != roles.candidates.end() && found->first.first == module; ++found) {
        found->second.scales.emplace(scale.spelled, scale.tensor);
        taken = true;
      }
    }
    if (taken)
      continue;
    // "logit_scale" and similar names are parameters of the model itself.
    const std::string parameter(scale.parts.parameter);
    const bool ofWeight =
        parameter.empty() || parameter == "weight" ||
        folder.find(module.empty() ? parameter : module + "." + parameter) != nullptr;
    (ofWeight ? roles.orphans : roles.others).push_back(scale.tensor);
  }
  return roles;
}

bool isError(const Finding& finding) { return finding.severity == Severity::Error; }
bool fits(const Fit& fit) { return std::ranges::none_of(fit.problems, isError); }

struct Choice {
  Fit fit;
  Findings findings;
  bool isOfOtherBlocks = false; ///< its blocks differ from the configuration
  std::string rival = {};       ///< another reading that fits too, with other values; empty: none
};

/// Whether two layers read the same bytes as the same values: same element format, same order of
/// elements and scales.
bool readAlike(const Layer& a, const Layer& b) {
  const auto order = [](const Layer& layer) {
    return layer.scales ? layer.scales->order : ScaleOrder{};
  };
  return a.elements.format == b.elements.format && a.elements.nibbles == b.elements.nibbles &&
         order(a) == order(b);
}

/// Text for a reading: its format, and the order of its scales if it is unusual.
std::string readingName(const Fit& fit, const LayerSpelling& spelling) {
  const bool isTiled = fit.layer.scales && fit.layer.scales->order == ScaleOrder::Tiles;
  return fmt::format("{}{}", spelling.format, isTiled ? " with scales in cuBLAS' tiles" : "");
}

/// Chooses the reading of a candidate: the claimed format if it fits, else another that fits, else
/// the one with the fewest problems. nullopt if no spelling has such elements.
std::optional<Choice> choose(const Candidate& candidate, std::string_view elementName,
                             std::span<const LayerSpelling> spellings, const Claim& claim) {
  std::vector<std::pair<Fit, const LayerSpelling*>> claimed, others;
  for (const LayerSpelling& spelling : spellings)
    if (spelling.elements.name == elementName)
      if (std::optional<Fit> fit = fitParts(candidate, spelling, claim))
        (spelling.format == claim.format ? claimed : others)
            .emplace_back(*std::move(fit), &spelling);

  const auto fitting = [](auto& fits_) {
    return std::ranges::find_if(fits_, [](const auto& fit) { return fits(fit.first); });
  };
  const StoredTensor& elements = candidate.elements;
  const auto report = [&](Findings& findings, RuleName rule, std::string what) {
    findings.push_back(finding(rule, elements.shard->name(), elements.name(), std::move(what)));
  };
  const auto chosen = [&](const std::pair<Fit, const LayerSpelling*>& fit) {
    Choice choice{fit.first, fit.first.problems};
    if (fit.second->access == Access::Tolerated)
      report(choice.findings, "other-spelling",
             fmt::format("its scale is named {}",
                         tensorName("", candidate.parameter, fit.second->scales.name)));
    return choice;
  };
  if (const auto found = fitting(claimed); found != claimed.end())
    return chosen(*found);
  if (const auto found = fitting(others); found != others.end()) {
    Choice choice = chosen(*found);
    if (!claim.format.empty()) {
      report(choice.findings, "configuration-mismatch",
             fmt::format("{} says {}; stored is {}, elements {}", claim.source, claim.format,
                         found->second->format, describe(*elements.entry)));
      choice.isOfOtherBlocks = claim.block.has_value();
      return choice;
    }
    for (auto other = found + 1; other != others.end(); ++other)
      if (fits(other->first) && !readAlike(other->first.layer, choice.fit.layer)) {
        const std::string first = readingName(found->first, *found->second),
                          second = readingName(other->first, *other->second);
        report(choice.findings, "ambiguous-format",
               fmt::format("read as {}; {} fits as well", first, second));
        choice.rival = fmt::format("{} or {}", first, second);
        break;
      }
    return choice;
  }

  auto& closest = claimed.empty() ? others : claimed;
  if (closest.empty())
    return std::nullopt;
  const auto least = std::ranges::min_element(
      closest, {}, [](const auto& fit) { return fit.first.problems.size(); });
  return Choice{least->first, least->first.problems};
}

/// Calls `claims` once for every module, parents included, so that its lists record which entries
/// are used.
void visitModules(const Folder& folder, const Claims& claims) {
  std::unordered_set<std::string_view> seen;
  for (const StoredTensor& tensor : folder.tensors())
    for (std::string_view module = moduleOf(tensor.name());
         !module.empty() && seen.insert(module).second; module = moduleOf(module))
      claims(module);
}

} // namespace

/// Tensors that have a role in a layer or cache.
using Placed = std::unordered_set<const SafetensorsEntry*>;

/// Whether a tensor is named like a part of a parameter other than its bias: "weight_shift".
static bool isNamedAsPart(std::string_view name, std::string_view parameter) {
  const auto bare = [](std::string_view text) {
    return text.starts_with('_') ? text.substr(1) : text; // torchao's "_weight"
  };
  name = bare(name), parameter = bare(parameter);
  return !parameter.empty() && name.size() > parameter.size() && name.starts_with(parameter) &&
         (name[parameter.size()] == '_' || name[parameter.size()] == '.') &&
         !name.ends_with("bias");
}

/// Whether a parameter beside a quantized weight is neither one of Linear or Embedding nor a
/// quantizer's leaked state.
static bool isOfUnknownUse(const StoredTensor& tensor, const Layer& layer) {
  const std::string_view name = lastComponent(tensor.name());
  return layer.parameter == "weight" && moduleOf(tensor.name()) == layer.name &&
         !name.ends_with("bias") && !name.ends_with("biases") && !quantizedModule(tensor.name());
}

/// Adds scales and other parts beside a quantized weight that its format does not use to `unread`:
/// the values may depend on them. Reports other parameters of unknown use.
static void refuseUnusedScales(const Folder& folder, const Placed& placed, Inventory& inventory,
                               Findings& findings) {
  std::unordered_map<std::string_view, Layer*> layers; // by module
  for (Layer& layer : inventory.layers)
    layers.try_emplace(layer.name, &layer);
  // If a layer lacks a part that exists with another dtype or shape, its reader fails with a better
  // message.
  std::unordered_set<std::string_view> known, misread, reported;
  for (const Unread& each : inventory.unread)
    known.insert(each.name);
  for (const Finding& each : findings) {
    if (each.rule == "scale-shape" || each.rule == "scale-dtype")
      misread.insert(each.tensor);
    if (each.severity == Severity::Error)
      reported.insert(each.tensor);
  }
  Findings found;
  std::vector<Unread> unused;
  for (const StoredTensor& tensor : folder.tensors()) {
    if (placed.contains(tensor.entry) || matchKvName(tensor.name()))
      continue;
    // Tensors of the module itself, or named below its parameter: "m.weight._scale_inv".
    const std::string_view module = moduleOf(tensor.name());
    auto layer = layers.find(module);
    if (layer == layers.end() && (layer = layers.find(moduleOf(module))) != layers.end()) {
      std::string_view parameter = layer->second->parameter; // torchao's begins with "_"
      parameter.remove_prefix(parameter.starts_with('_') ? 1 : 0);
      if (lastComponent(module) != parameter)
        continue;
    }
    if (layer == layers.end())
      continue;
    const std::string_view name =
        std::string_view(tensor.name()).substr(layer->first.empty() ? 0 : layer->first.size() + 1);
    // The layer itself reports tensors that are known to change its values.
    const bool isModifier = layer->second->unapplied.starts_with(tensor.name() + " ");
    const bool isMisread = misread.contains(tensor.name());
    const bool lacksScale =
        !layer->second->scales || (layer->second->type.hasOuterScale && !layer->second->outer);
    const bool isPart = isNamedLikeScale(name) || isNamedAsPart(name, layer->second->parameter);
    if (!isPart && !known.contains(tensor.name()) && !isModifier &&
        isOfUnknownUse(tensor, *layer->second))
      found.push_back(finding("unapplied-tensor", tensor.shard->name(), tensor.name(),
                              fmt::format("{} beside {}: nothing says what it does to the layer",
                                          describe(*tensor.entry),
                                          inQuotes(layer->second->elements.tensor.name()))));
    if (!isPart || known.contains(tensor.name()) || isModifier || (isMisread && lacksScale))
      continue;
    std::string what = fmt::format(
        "{} beside {}, {}", describe(*tensor.entry),
        inQuotes(layer->second->elements.tensor.name()),
        isMisread ? "in another dtype or shape than the layout has"
                  : fmt::format("whose format {} has no such {}", formatName(*layer->second),
                                isNamedLikeScale(name) ? "scale" : "part"));
    if (!reported.contains(tensor.name()))
      found.push_back(finding("unused-scale", tensor.shard->name(), tensor.name(), what));
    if (layer->second->unapplied.empty())
      layer->second->unapplied = fmt::format("{} is {}", tensor.name(), what);
    unused.push_back(
        {tensor.name(), std::move(what),
         "remove it if it says nothing, or convert the checkpoint with the tool that wrote it"});
  }
  std::ranges::move(found, std::back_inserter(findings));
  std::ranges::move(unused, std::back_inserter(inventory.unread));
}

/// Adds codes that belong to no layer to the foreign codes and to `unread`. Narrow floats without
/// any scale become doubts: they may be values.
static void refuseForeignCodes(const Folder& folder, const Placed& placed, Inventory& inventory) {
  std::unordered_set<std::string_view> known;
  for (const Unread& each : inventory.unread)
    known.insert(each.name);
  const auto taken = [&](const StoredTensor& tensor) {
    return placed.contains(tensor.entry) || known.contains(tensor.name()) ||
           isNamedLikeScale(lastComponent(tensor.name()));
  };
  inventory.foreign = findForeignCodes(folder, taken);
  std::unordered_set<const SafetensorsEntry*> foreign;
  for (const ForeignCodes& codes : inventory.foreign)
    foreign.insert(codes.tensor.entry);
  std::vector<Unread> unread; // separate, because `known` points into inventory.unread
  for (const ForeignCodes& codes : inventory.foreign)
    unread.push_back(
        {codes.tensor.name(),
         fmt::format("{}, codes of {}", describe(*codes.tensor.entry),
                     codes.producer.empty() ? "a producer that is not told" : codes.producer),
         codes.producer.empty()
             ? "dequantize it with the tool that wrote it"
             : fmt::format("dequantize it with the tool that wrote it ({})", codes.producer)});
  for (const StoredTensor& tensor : folder.tensors())
    if (isNarrowFloat(*tensor.entry->dtype) && tensor.entry->shape.size() >= 2 &&
        tensor.size() > 0 && !taken(tensor) && !foreign.contains(tensor.entry))
      inventory.doubts.push_back({Doubt::UnscaledCodes, tensor.shard->name(), tensor.name(),
                                  "a scale beside it, or values of BF16, F16 or F32",
                                  describe(*tensor.entry) + " and no scale"});
  std::ranges::move(unread, std::back_inserter(inventory.unread));
}

void addForeignCodes(const Folder& folder, std::string_view producer, Inventory& inventory) {
  std::unordered_set<const SafetensorsEntry*> known;
  for (const ForeignCodes& codes : inventory.foreign)
    known.insert(codes.tensor.entry);
  for (const Unread& each : inventory.unread)
    if (const StoredTensor* tensor = folder.find(each.name);
        tensor && tensor->entry->shape.size() >= 2 && known.insert(tensor->entry).second)
      inventory.foreign.push_back({*tensor, std::string(producer)});
}

std::string shardOf(const Folder& folder, const StoredTensor& tensor) {
  return std::filesystem::path(tensor.shard->name()).lexically_proximate(folder.path()).string();
}

Inventory scanLayers(const Folder& folder, std::span<const LayerSpelling> spellings,
                     const Claims& claims, Findings& findings) {
  const std::size_t before = findings.size();
  visitModules(folder, claims);
  Inventory inventory;
  Roles roles = assignRoles(folder, spellings);
  Placed placed;
  const auto report = [&](RuleName rule, const StoredTensor& tensor, std::string what) {
    findings.push_back(finding(rule, tensor.shard->name(), tensor.name(), std::move(what)));
  };

  KvScaleList kvScales;
  const auto takeKvScales = [&](std::vector<StoredTensor>& tensors) {
    std::erase_if(tensors, [&](const StoredTensor& tensor) {
      const auto match = matchKvName(tensor.name());
      if (!match)
        return false;
      if (kvScales.add(*match, tensor, findings))
        placed.insert(tensor.entry);
      return true;
    });
  };
  takeKvScales(roles.others);
  takeKvScales(roles.orphans);

  for (auto& [key, candidate] : roles.candidates) {
    const Claim claim = claims(candidate.module);
    if (claim.kind == Claim::Kind::Unsupported) {
      inventory.unread.push_back({candidate.elements.name(), claim.source});
      continue;
    }
    if (claim.kind == Claim::Kind::Plain && candidate.scales.empty())
      continue;
    const std::optional<Choice> choice =
        choose(candidate, roles.elementNames.at(key), spellings, claim);
    if (!choice) {
      std::string why = fmt::format("{} does not fit any format of this layout",
                                    describe(*candidate.elements.entry));
      inventory.unread.push_back({candidate.elements.name(), why});
      report("unsupported-format", candidate.elements, std::move(why));
      continue;
    }
    if (claim.kind == Claim::Kind::Plain)
      report("ignored-layer-quantized", candidate.elements,
             fmt::format("{} leaves {} out of quantization; stored is {} with scales", claim.source,
                         inQuotes(candidate.module), describe(*candidate.elements.entry)));
    findings.insert(findings.end(), choice->findings.begin(), choice->findings.end());
    Layer layer = choice->fit.layer;
    if (layer.shape.empty()) {
      inventory.unread.push_back({candidate.elements.name(), "its elements cannot be placed"});
      continue;
    }
    if (choice->isOfOtherBlocks)
      inventory.doubts.push_back(
          {Doubt::BlockSize, candidate.elements.shard->name(), candidate.elements.name(),
           fmt::format("blocks of {} x {} ({})", (*claim.block)[0], (*claim.block)[1],
                       claim.source),
           fmt::format("scales of {} x {}", layer.type.block[layer.shape.size() - 2],
                       layer.type.block.back())});
    if (!choice->rival.empty())
      inventory.doubts.push_back({Doubt::AmbiguousFormat, candidate.elements.shard->name(),
                                  candidate.elements.name(),
                                  "a configuration that names the format", choice->rival});
    if (const auto unapplied = findModifiers(folder, layer))
      report("unapplied-tensor", *unapplied, layer.unapplied);
    for (const StoredTensor& tensor : layer.idle)
      placed.insert(tensor.entry);
    placed.insert(layer.elements.tensor.entry);
    for (const auto& [role, part] : scalesOf(layer))
      placed.insert(part->tensor.entry);
    inventory.layers.push_back(std::move(layer));
  }

  for (const StoredTensor& orphan : roles.orphans) {
    const std::string_view name = orphan.name();
    const std::string weight = tensorName(moduleOf(name), "weight", "*");
    const StoredTensor* stored = folder.find(weight);
    if (!stored && lastComponent(name).starts_with("weight"))
      inventory.unread.push_back({orphan.name(), fmt::format("there is no {}", inQuotes(weight)),
                                  "copy or download the shard of the weight again"});
    report("orphan-scale", orphan,
           stored ? fmt::format("{}; {} is {}, which takes no scale", describe(*orphan.entry),
                                inQuotes(weight), describe(*stored->entry))
                  : fmt::format("{}; there is no {}", describe(*orphan.entry), inQuotes(weight)));
  }

  for (const StoredTensor& tensor : roles.others) {
    const std::string module(moduleOf(tensor.name()));
    const auto beside = roles.candidates.lower_bound({module, ""});
    if (isNarrowFloat(*tensor.entry->dtype) && beside != roles.candidates.end() &&
        beside->first.first == module)
      report("unscaled-codes", tensor,
             fmt::format("{} beside a quantized weight, without a scale", describe(*tensor.entry)));
    if (!isPlainFloat(*tensor.entry->dtype) || !tensor.name().ends_with(".weight"))
      continue;
    const Claim claim = claims(moduleOf(tensor.name()));
    if (claim.kind != Claim::Kind::Quantized)
      continue;
    if (claim.reach == Claim::Reach::Name)
      report("configuration-mismatch", tensor,
             fmt::format("{} says {}; stored is {}", claim.source,
                         claim.format.empty() ? "quantized" : claim.format,
                         describe(*tensor.entry)));
    else if (claim.reach == Claim::Reach::Class && mayBeLinear(folder, tensor))
      report("unquantized-layer", tensor,
             fmt::format("{} quantizes every Linear and does not exclude this one; stored is {}",
                         claim.source, describe(*tensor.entry)));
  }

  refuseUnusedScales(folder, placed, inventory, findings);
  refuseForeignCodes(folder, placed, inventory);
  for (const StoredTensor& tensor : folder.tensors())
    if (!placed.contains(tensor.entry))
      inventory.plain.push_back(tensor);
  kvScales.take(inventory, findings);
  for (std::size_t i = before; i < findings.size(); ++i)
    if (const StoredTensor* tensor = folder.find(findings[i].tensor))
      findings[i].file = shardOf(folder, *tensor);
  return inventory;
}

std::size_t countExactLayers(const Folder& folder, std::span<const LayerSpelling> spellings) {
  const Roles roles = assignRoles(folder, spellings);
  for (const StoredTensor& orphan : roles.orphans)
    if (!matchKvName(orphan.name()))
      return 0;
  for (const auto& [key, candidate] : roles.candidates) {
    bool exact = false;
    for (const LayerSpelling& spelling : spellings)
      if (spelling.elements.name == roles.elementNames.at(key) &&
          spelling.access != Access::Tolerated) {
        const std::optional<Fit> fit = fitParts(candidate, spelling, {});
        exact |= fit && fit->exact && fit->problems.empty();
      }
    if (!exact)
      return 0;
  }
  return roles.candidates.size();
}

} // namespace octavo::checkpoint
