// Splits names of tensors and modules into components, which are separated by dots.
#pragma once

#include <string_view>

namespace octavo::checkpoint {

/// The name without its last component: "mlp.up_proj" for "mlp.up_proj.weight". Empty if there is
/// only one component.
constexpr std::string_view moduleOf(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

/// The last component: "weight" for "mlp.up_proj.weight".
constexpr std::string_view lastComponent(std::string_view name) {
  return name.substr(name.rfind('.') + 1); // the whole name if there is no dot
}

} // namespace octavo::checkpoint
