// Shared objects sorted by name, then by a qualifier (namespace or kind) and a group. Changes are
// collected and merged when the sorted vector is asked for: one pass for a burst of changes, and
// none when they only replace objects.
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cluster {

struct TableKeyView {
  std::string_view name;
  std::string_view qualifier;
  std::string_view group = {};  // of those that are qualified by their kind
  friend auto operator<=>(const TableKeyView&, const TableKeyView&) = default;
};

struct TableKey {
  std::string name;
  std::string qualifier;
  std::string group;
  explicit TableKey(TableKeyView view)
      : name(view.name), qualifier(view.qualifier), group(view.group) {}
  // NOLINTNEXTLINE: a key is read as a view
  operator TableKeyView() const { return {name, qualifier, group}; }
};

struct TableKeyLess {
  using is_transparent = void;
  bool operator()(TableKeyView a, TableKeyView b) const { return a < b; }
};

// `KeyOf` maps an object to its TableKeyView.
template <class T, TableKeyView (*KeyOf)(const T&)>
class SortedTable {
 public:
  using Ptr = std::shared_ptr<const T>;

  void put(Ptr object) {
    const TableKey key(KeyOf(*object));
    changes_.insert_or_assign(key, std::move(object));
  }
  // False when there is no such object.
  bool erase(TableKeyView key) {
    if (find(key) == nullptr) {
      return false;
    }
    changes_.insert_or_assign(TableKey(key), nullptr);
    return true;
  }
  // nullptr when there is none.
  Ptr find(TableKeyView key) const {
    const auto change = changes_.find(key);
    if (change != changes_.end()) {
      return change->second;
    }
    const auto at = lower_bound(key);
    return at != items_.end() && KeyOf(**at) == key ? *at : nullptr;
  }
  const std::vector<Ptr>& items() {
    if (!changes_.empty() && !replace_in_place()) {
      merge();
    }
    changes_.clear();
    return items_;
  }

 private:
  auto lower_bound(TableKeyView key) const {
    return std::partition_point(items_.begin(), items_.end(),
                                [key](const Ptr& item) { return KeyOf(*item) < key; });
  }

  // False when some change adds or removes an object; merge() then applies them all.
  bool replace_in_place() {
    for (auto& [key, object] : changes_) {
      const auto at = items_.begin() + (lower_bound(key) - items_.cbegin());
      if (object == nullptr || at == items_.end() || KeyOf(**at) != TableKeyView(key)) {
        return false;
      }
      *at = object;
    }
    return true;
  }

  void merge() {
    std::vector<Ptr> merged;
    merged.reserve(items_.size() + changes_.size());
    auto change = changes_.begin();
    for (Ptr& item : items_) {
      const TableKeyView key = KeyOf(*item);
      while (change != changes_.end() && TableKeyView(change->first) < key) {
        append(merged, std::move(change->second));
        ++change;
      }
      if (change != changes_.end() && TableKeyView(change->first) == key) {
        append(merged, std::move(change->second));
        ++change;
      } else {
        merged.push_back(std::move(item));
      }
    }
    for (; change != changes_.end(); ++change) {
      append(merged, std::move(change->second));
    }
    items_ = std::move(merged);
  }

  static void append(std::vector<Ptr>& items, Ptr object) {
    if (object != nullptr) {
      items.push_back(std::move(object));
    }
  }

  std::vector<Ptr> items_;
  std::map<TableKey, Ptr, TableKeyLess> changes_;  // nullptr: removed
};

// For every object with metadata.
template <class T>
TableKeyView name_and_namespace(const T& object) {
  return {object.meta.name, object.meta.namespace_};
}

}  // namespace millwright::cluster
