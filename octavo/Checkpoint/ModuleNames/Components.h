// Names of tensors and modules are components with dots between them.
#pragma once

#include <string_view>

namespace octavo::checkpoint {

/// "mlp.up_proj.weight" is of the module "mlp.up_proj", and that of "mlp". Empty where there is
/// one component.
constexpr std::string_view moduleOf(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

constexpr std::string_view lastComponent(std::string_view name) {
  return name.substr(name.rfind('.') + 1); // all where there is no dot
}

} // namespace octavo::checkpoint
