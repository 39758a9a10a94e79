// What is made of a value for those that read it again and again, such as a weight packed for
// products: made once, and shared by all executables that the value is given to.
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

/// The forms of one value, which live as long as it does. Used by several threads at once.
class PackedForms {
public:
  /// What a form is made by: two forms of one C++ type and key are the same.
  using Key = std::vector<std::int64_t>;

  /// The form, made by `make()`, a tl::expected<T, std::string>, where nobody has asked for it
  /// before.
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
  template <typename T> static constexpr char kType = 0; ///< its address stands for T

  struct Form {
    const char* type;
    Key key;
    std::shared_ptr<const void> form;
  };
  std::mutex making;
  std::vector<Form> made;
};

} // namespace octavo::program
