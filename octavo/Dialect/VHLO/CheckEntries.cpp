#include "octavo/Dialect/VHLO/CheckEntries.h"

#include "octavo/Dialect/TextNesting.h"
#include "octavo/Dialect/VHLO/EntryKinds.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace octavo::vhlo {

namespace {

/// The deepest nesting: reading, verifying and printing recurse.
constexpr unsigned kDeepest = 1000;
/// The most attributes and types that an entry may contain with all references expanded, as
/// printing does.
constexpr std::uint64_t kMost = 10'000'000;

class EntryChecker {
public:
  EntryChecker(Cursor entries, llvm::ArrayRef<llvm::StringRef> dialects, Damage& damage)
      : entries(entries), dialects(dialects), damage(damage) {}

  void check(Cursor sizes) {
    attributes = damage.count(sizes, "attributes");
    const std::uint64_t types = damage.count(sizes, "types");
    if (damage.isFound())
      return;
    nodes.reserve(attributes + types);
    groups(sizes, attributes);
    groups(sizes, attributes + types);
    for (std::size_t node = 0; node < nodes.size() && !damage.isFound(); ++node)
      follow(node);
  }

private:
  struct Node {
    Cursor at;
    std::vector<std::size_t> references;
    enum { New, Open, Done } state = New;
    unsigned depth = 1;
    std::uint64_t parts = 1;
  };

  bool isFine(const Cursor& cursor) const { return !damage.isFound() && cursor.isGood(); }
  bool isType(std::size_t node) const { return node >= attributes; }

  /// Reads the entries up to number `end`, which are grouped by dialect.
  void groups(Cursor& sizes, std::size_t end) {
    while (isFine(sizes) && nodes.size() < end) {
      const std::uint64_t dialect = sizes.number();
      const std::uint64_t count = sizes.number();
      if (dialect >= dialects.size())
        return damage.report(sizes, "an attribute or type of no dialect");
      if (count > end - nodes.size())
        return damage.report(sizes, "more attributes or types than are said");
      for (std::uint64_t i = 0; isFine(sizes) && i < count; ++i) {
        const std::uint64_t head = sizes.number();
        Cursor entry = entries.take(head >> 1);
        if (!entries.isGood())
          return damage.report(sizes, "an attribute or type that is cut off");
        nodes.push_back({entry, {}});
        if ((head & 1) == 0)
          text(entry);
        else if (const std::uint64_t code = entry.number(); entry.isGood())
          fields(entry, fieldsOf(dialects[dialect], isType(nodes.size() - 1), code));
      }
    }
    if (isFine(sizes) || damage.isFound())
      return;
    damage.report(sizes, "attributes or types that are cut off");
  }

  void fields(Cursor& entry, llvm::StringRef letters) {
    while (isFine(entry) && !letters.empty()) {
      const char letter = letters.front();
      letters = letters.drop_front();
      if (letter == '[') {
        const auto [own, after] = letters.split(']');
        for (std::uint64_t left = damage.count(entry, "elements of a list"); left > 0; --left)
          if (isFine(entry))
            fields(entry, own);
        letters = after;
      } else if (letter == 'b') {
        entry.byte();
      } else if (letter == 'B') {
        entry.take(entry.number());
      } else if (letter == '?') {
        if (entry.number() != 0)
          reference(entry, 'a', entry.number());
      } else {
        reference(entry, letter, entry.number());
      }
    }
  }

  void reference(const Cursor& entry, char letter, std::uint64_t number) {
    const bool isNone = letter == 'n' || (letter == 'o' && (number & 1) == 0);
    if (isNone || !entry.isGood())
      return;
    if (letter == 'o')
      number >>= 1;
    nodes.back().references.push_back(letter == 't' ? llvm::SaturatingAdd(number, attributes)
                                      : number < attributes ? number
                                                            : SIZE_MAX);
  }

  /// Checks an entry that is MLIR text, which MLIR's parser reads by recursion.
  void text(const Cursor& entry) {
    if (const std::optional<TooDeep> deep = tooDeepIn(entry.rest(), {.levels = kDeepest}))
      damage.report(entry, "an attribute or type in MLIR's text that " + deep->what);
  }

  void tooDeep(const Cursor& entry) {
    damage.report(entry, "attributes or types in one another deeper than " + llvm::Twine(kDeepest) +
                             " levels");
  }

  /// Visits the entries that `root` refers to, depth first, and computes their depth and size.
  void follow(std::size_t root) {
    struct Step {
      std::size_t node;
      std::size_t next = 0;
    };
    if (nodes[root].state != Node::New)
      return;
    std::vector<Step> path{{root}};
    nodes[root].state = Node::Open;
    while (!path.empty() && !damage.isFound()) {
      Step& step = path.back();
      Node& node = nodes[step.node];
      if (step.next == node.references.size()) {
        node.state = Node::Done;
        path.pop_back();
        continue;
      }
      const std::size_t target = node.references[step.next];
      if (target >= nodes.size())
        return damage.report(node.at, "a reference to no attribute or type");
      Node& other = nodes[target];
      if (other.state == Node::Open)
        return damage.report(node.at, llvm::Twine(isType(target) ? "a type" : "an attribute") +
                                          " that contains itself");
      if (other.state == Node::New) {
        other.state = Node::Open;
        path.push_back({target});
        continue;
      }
      ++step.next;
      node.depth = std::max(node.depth, other.depth + 1);
      node.parts += other.parts;
      if (node.depth > kDeepest)
        tooDeep(node.at);
      if (node.parts > kMost)
        damage.report(node.at,
                      "an attribute or type of more than " + llvm::Twine(kMost) + " others");
    }
  }

  Cursor entries;
  llvm::ArrayRef<llvm::StringRef> dialects;
  Damage& damage;
  std::uint64_t attributes = 0; ///< number of attributes; types are numbered after them
  std::vector<Node> nodes;
};

} // namespace

void checkEntries(Cursor entries, Cursor sizes, llvm::ArrayRef<llvm::StringRef> dialects,
                  Damage& damage) {
  EntryChecker(entries, dialects, damage).check(sizes);
}

} // namespace octavo::vhlo
