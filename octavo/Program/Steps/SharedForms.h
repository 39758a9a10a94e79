// Packed forms that depend on several values, or that are found by a description instead of
// numbers. They are kept in the value's own forms (Program/Values/PackedForms.h); there is no other
// cache of packed forms.
#pragma once

#include "octavo/Program/Values/Value.h"

#include <tl/expected.hpp>

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace octavo::program {

/// A form of one value that also depends on other values, such as its scales. If another value
/// changes, a new form replaces the old one.
template <typename T> class FormWithOthers {
public:
  using Form = tl::expected<std::shared_ptr<const T>, std::string>;

  /// Returns the form. Calls `make()`, which returns a tl::expected<T, std::string>, unless the
  /// kept form was made with the same `given` values.
  template <typename Make> Form of(std::span<const Value* const> given, Make make) {
    const std::lock_guard lock(making);
    const auto isSame = [](const Value& kept, const Value* value) { return kept.isSameAs(*value); };
    if (form != nullptr && std::ranges::equal(others, given, isSame))
      return form;
    tl::expected<T, std::string> made = make();
    if (!made)
      return tl::make_unexpected(std::move(made.error()));
    form = std::make_shared<const T>(std::move(*made));
    others.clear();
    for (const Value* value : given)
      others.push_back(*value);
    return form;
  }

private:
  std::mutex making;
  std::vector<Value> others; ///< held, so that their addresses stay unique
  std::shared_ptr<const T> form;
};

/// The form of `owner` for `key` that is made together with `others`. `owner` must not be in
/// `others`.
template <typename T, typename Make>
typename FormWithOthers<T>::Form formWithOthers(const Value& owner, const PackedForms::Key& key,
                                                std::span<const Value* const> others, Make make) {
  using Held = std::unique_ptr<FormWithOthers<T>>;
  return owner.forms()
      .of<Held>(
          key,
          []() -> tl::expected<Held, std::string> { return std::make_unique<FormWithOthers<T>>(); })
      .and_then([&](const std::shared_ptr<const Held>& held) {
        return (*held)->of(others, std::move(make));
      });
}

/// Forms of one value that are found by a description. A View is a description that refers to its
/// parts instead of owning them, so that a lookup allocates nothing. A View compares equal to a
/// Description and converts to one.
template <typename Description, typename T> class DescribedForms {
public:
  /// Returns the form for the description. Calls `make()` if there is none yet.
  template <typename View, typename Make>
  std::shared_ptr<const T> of(const View& description, const Make& make) {
    const std::lock_guard lock(making);
    for (const auto& [known, form] : forms)
      if (description == known)
        return form;
    return forms.emplace_back(Description(description), std::make_shared<const T>(make())).second;
  }

private:
  std::mutex making;
  std::list<std::pair<Description, std::shared_ptr<const T>>> forms;
};

/// The form of `owner` for a description, made by `make()` if it does not exist yet.
template <typename Description, typename T, typename View, typename Make>
std::shared_ptr<const T> describedForm(const Value& owner, const View& description,
                                       const Make& make) {
  using Held = std::unique_ptr<DescribedForms<Description, T>>;
  static const PackedForms::Key kNoNumbers;
  const auto held = owner.forms().of<Held>(kNoNumbers, []() -> tl::expected<Held, std::string> {
    return std::make_unique<DescribedForms<Description, T>>();
  });
  return (**held)->of(description, make);
}

} // namespace octavo::program
