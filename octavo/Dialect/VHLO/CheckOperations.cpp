#include "octavo/Dialect/VHLO/CheckOperations.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace octavo::vhlo {

namespace {

constexpr std::uint64_t kLazyRegions = 2;
constexpr std::uint64_t kUseListOrders = 3;
constexpr std::uint64_t kElidedLocations = 4;
constexpr std::uint64_t kProperties = 5;
constexpr unsigned kOperationsSection = 4;

/// What follows the location of an operation: one bit of its mask each.
enum Follows : unsigned {
  kAttributes = 0x01,
  kResults = 0x02,
  kOperands = 0x04,
  kSuccessors = 0x08,
  kRegions = 0x10,
  kOrders = 0x20,
  kHasProperties = 0x40,
};

/// The order of a value's uses. As pairs, only the uses that moved are listed.
struct Order {
  std::size_t value;
  std::vector<std::uint64_t> uses;
  bool isPairs;
  std::size_t at;
};

/// The values visible in a region and in its nested regions, except isolated ones.
struct Scope {
  std::vector<std::uint64_t> uses;
  std::vector<Order> orders;
};

class OperationChecker {
public:
  OperationChecker(std::uint64_t version, Damage& damage) : version(version), damage(damage) {}

  void check(Cursor cursor) {
    Scope scope;
    const std::uint64_t head = cursor.number();
    if ((head & 1) != 0)
      wrong(cursor, "arguments of no region");
    std::size_t next = 0;
    for (std::uint64_t i = 0; isFine(cursor) && i < head >> 1; ++i)
      operation(cursor, scope, next, 0);
    checkOrders(cursor, scope);
    if (!cursor.isGood())
      wrong(cursor, "operations that are cut off");
  }

private:
  void wrong(const Cursor& cursor, const llvm::Twine& what) { damage.report(cursor, what); }
  bool isFine(const Cursor& cursor) const { return !damage.isFound() && cursor.isGood(); }
  std::uint64_t count(Cursor& cursor, llvm::StringRef what) { return damage.count(cursor, what); }

  void define(const Cursor& cursor, Scope& scope, std::size_t& next, std::uint64_t values) {
    if (values > scope.uses.size() - next)
      wrong(cursor, "more values than the region has");
    else
      next += values;
  }

  void orders(Cursor& cursor, Scope& scope, std::size_t first, std::uint64_t values) {
    const std::uint64_t ordered = values > 1 ? count(cursor, "orders of uses") : 1;
    for (std::uint64_t i = 0; isFine(cursor) && i < ordered; ++i) {
      const std::uint64_t index = values > 1 ? cursor.number() : 0;
      if (index >= values)
        return wrong(cursor, "an order of uses of no value");
      const std::uint64_t head = cursor.number();
      if (head >> 1 > cursor.remaining())
        return wrong(cursor, "an order of uses that is too long");
      Order order{first + index, {}, (head & 1) != 0, cursor.position()};
      for (std::uint64_t use = 0; use < head >> 1; ++use)
        order.uses.push_back(cursor.number());
      scope.orders.push_back(std::move(order));
    }
  }

  void checkOrders(const Cursor& cursor, const Scope& scope) {
    for (const Order& order : scope.orders) {
      const std::uint64_t uses = scope.uses[order.value];
      bool fits = order.isPairs ? order.uses.size() % 2 == 0 : order.uses.size() == uses;
      for (const std::uint64_t use : order.uses)
        fits &= use < uses;
      if (!fits)
        wrong(cursor, "an order of uses that does not fit the " + llvm::Twine(uses) +
                          " of its value, read");
    }
  }

  void operation(Cursor& cursor, Scope& scope, std::size_t& next, std::uint64_t blocks) {
    cursor.number(); // its name
    const unsigned mask = cursor.byte();
    cursor.number(); // its location
    if ((mask & kAttributes) != 0)
      cursor.number();
    if ((mask & kHasProperties) != 0 && version >= kProperties)
      cursor.number();
    const std::uint64_t results = (mask & kResults) != 0 ? count(cursor, "results") : 0;
    for (std::uint64_t i = 0; i < results; ++i)
      cursor.number();
    const std::uint64_t operands = (mask & kOperands) != 0 ? count(cursor, "operands") : 0;
    for (std::uint64_t i = 0; isFine(cursor) && i < operands; ++i) {
      const std::uint64_t value = cursor.number();
      if (value < scope.uses.size())
        ++scope.uses[value];
      else
        wrong(cursor, "an operand of number " + llvm::Twine(value) + " of " +
                          llvm::Twine(scope.uses.size()) + " values");
    }
    const std::uint64_t successors = (mask & kSuccessors) != 0 ? count(cursor, "successors") : 0;
    for (std::uint64_t i = 0; isFine(cursor) && i < successors; ++i)
      if (cursor.number() >= blocks)
        wrong(cursor, "a successor that is no block");
    const std::size_t first = next;
    define(cursor, scope, next, results);
    if ((mask & kOrders) != 0 && version >= kUseListOrders) {
      if (results == 0)
        wrong(cursor, "an order of uses of no value");
      else
        orders(cursor, scope, first, results);
    }
    if ((mask & kRegions) == 0 || !isFine(cursor))
      return;
    const std::uint64_t head = cursor.number();
    if (head >> 1 > cursor.remaining())
      return wrong(cursor, llvm::Twine(head >> 1) + " regions");
    if (++depth > kDeepest)
      return wrong(cursor,
                   "operations in one another deeper than " + llvm::Twine(kDeepest) + " levels");
    const bool isIsolated = (head & 1) != 0;
    if (isIsolated && version >= kLazyRegions) {
      unsigned id = 0;
      Cursor contents = cursor.section(id);
      if (id != kOperationsSection)
        wrong(cursor, "a section " + llvm::Twine(id) + " in place of regions");
      regions(contents, head >> 1, nullptr);
      if (!contents.isGood() || !contents.atEnd())
        wrong(contents, "regions of another length than is said");
    } else {
      regions(cursor, head >> 1, isIsolated ? nullptr : &scope);
    }
    --depth;
  }

  void regions(Cursor& cursor, std::uint64_t regions, Scope* outer) {
    for (std::uint64_t i = 0; isFine(cursor) && i < regions; ++i) {
      Scope own;
      region(cursor, outer != nullptr ? *outer : own);
    }
  }

  void region(Cursor& cursor, Scope& scope) {
    const std::uint64_t blocks = count(cursor, "blocks");
    if (blocks == 0)
      return;
    const std::size_t first = scope.uses.size();
    const std::uint64_t values = count(cursor, "values");
    std::vector<Order> outer = std::exchange(scope.orders, {});
    std::size_t next = first;
    scope.uses.resize(first + values);
    for (std::uint64_t i = 0; isFine(cursor) && i < blocks; ++i) {
      const std::uint64_t head = cursor.number();
      if ((head & 1) != 0)
        arguments(cursor, scope, next);
      for (std::uint64_t op = 0; isFine(cursor) && op < head >> 1; ++op)
        operation(cursor, scope, next, blocks);
    }
    if (isFine(cursor) && next != scope.uses.size())
      wrong(cursor, "fewer values than the region has");
    checkOrders(cursor, scope);
    scope.orders = std::move(outer);
    scope.uses.resize(first);
  }

  void arguments(Cursor& cursor, Scope& scope, std::size_t& next) {
    const std::uint64_t arguments = count(cursor, "arguments");
    for (std::uint64_t i = 0; isFine(cursor) && i < arguments; ++i) {
      const std::uint64_t type = cursor.number();
      if (version < kElidedLocations || (type & 1) != 0)
        cursor.number(); // its location
    }
    const std::size_t first = next;
    define(cursor, scope, next, arguments);
    if (version >= kUseListOrders && cursor.byte() != 0)
      orders(cursor, scope, first, arguments);
  }

  /// The deepest nesting: MLIR's verifier, printer and others recurse.
  static constexpr unsigned kDeepest = 2000;
  std::uint64_t version;
  Damage& damage;
  unsigned depth = 0;
};

} // namespace

void checkOperations(Cursor section, std::uint64_t version, Damage& damage) {
  OperationChecker(version, damage).check(section);
}

} // namespace octavo::vhlo
