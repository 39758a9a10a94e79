// Packed forms of a value: made once for readers that use the value repeatedly, such as a weight
// packed for products. All executables that get the value share them.
#pragma once

#include <tl/expected.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace octavo::program {

/// The packed forms of one value, which live as long as the value. Any number of threads may use
/// it.
class PackedForms {
public:
  /// What identifies a form: two forms of one C++ type and equal keys are the same.
  using Key = std::vector<std::int64_t>;

  /// Returns the form for `key`. Calls `make()`, which returns a tl::expected<T, std::string>, if
  /// the form does not exist yet.
  template <typename T, typename Make>
  tl::expected<std::shared_ptr<const T>, std::string> of(const Key& key, const Make& make) {
    const std::lock_guard lock(making);
    const auto found = std::ranges::find_if(
        made, [&](const Form& each) { return each.type == &kType<T> && each.key == key; });
    if (found != made.end())
      return std::static_pointer_cast<const T>(found->form);
    tl::expected<T, std::string> form = make();
    if (!form)
      return tl::unexpected(std::move(form.error()));
    auto held = std::make_shared<const T>(std::move(*form));
    made.push_back({&kType<T>, key, held});
    return held;
  }

private:
  template <typename T> static constexpr char kType = 0; ///< its address identifies T

  struct Form {
    const char* type;
    Key key;
    std::shared_ptr<const void> form;
  };
  std::mutex making;
  std::vector<Form> made;
};

} // namespace octavo::program
