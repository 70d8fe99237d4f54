// A list that never changes, shared by its copies: thousands of claims of a plan offer the same
// hundreds of instance types.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace millwright::scheduling {

template <class T>
class SharedList {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;
  using iterator = const_iterator;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using const_reference = const T&;
  using reference = const T&;

  SharedList() = default;
  SharedList(std::vector<T> items)  // NOLINT: reads as a list
      : items_(items.empty() ? nullptr : std::make_shared<const std::vector<T>>(std::move(items))) {
  }

  const std::vector<T>& list() const {
    static const std::vector<T> kNone;
    return items_ ? *items_ : kNone;
  }
  const_iterator begin() const { return list().begin(); }
  const_iterator end() const { return list().end(); }
  std::size_t size() const { return items_ ? items_->size() : 0; }
  bool empty() const { return items_ == nullptr; }
  const T& front() const { return items_->front(); }
  const T& back() const { return items_->back(); }
  const T& operator[](std::size_t index) const { return (*items_)[index]; }
  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.items_ == b.items_ || a.list() == b.list();
  }

 private:
  std::shared_ptr<const std::vector<T>> items_;  // null when empty
};

}  // namespace millwright::scheduling
