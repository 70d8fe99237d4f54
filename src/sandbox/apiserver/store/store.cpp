#include "sandbox/apiserver/store/store.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace millwright::sandbox {

model::ObjectKey key_of(const Json& object) {
  return {std::string(text(object, "metadata.namespace")),
          std::string(text(object, "metadata.name"))};
}

std::uint64_t version_of(const Json& object) {
  const auto digits = text(object, "metadata.resourceVersion");
  std::uint64_t version = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), version);
  return version;
}

Store::Store(base::Loop& loop, std::size_t history)
    : loop_(loop), history_(history), shelves_(all_infos().size()) {}

const Store::Objects& Store::objects(const ResourceInfo& info) const {
  return shelves_[info.index].objects;
}

Object Store::find(const ResourceInfo& info, const model::ObjectKey& key) const {
  const auto& objects = shelves_[info.index].objects;
  const auto found = objects.find(key);
  return found == objects.end() ? nullptr : found->second;
}

Object Store::put(const ResourceInfo& info, Json object) {
  auto& place = shelves_[info.index].objects[key_of(object)];
  make(object, "metadata.resourceVersion") = std::to_string(++version_);
  auto previous = std::move(place);
  place = std::make_shared<const Json>(std::move(object));
  const auto change = previous == nullptr ? Change::Added : Change::Modified;
  auto stored = place;
  announce(info, Event{change, stored, std::move(previous), version_, loop_.now()});
  return stored;
}

Object Store::erase(const ResourceInfo& info, const model::ObjectKey& key) {
  auto& objects = shelves_[info.index].objects;
  const auto found = objects.find(key);
  if (found == objects.end()) {
    return nullptr;
  }
  auto previous = std::move(found->second);
  objects.erase(found);
  Json last = *previous;
  make(last, "metadata.resourceVersion") = std::to_string(++version_);
  auto gone = std::make_shared<const Json>(std::move(last));
  announce(info, Event{Change::Deleted, gone, std::move(previous), version_, loop_.now()});
  return gone;
}

void Store::announce(const ResourceInfo& info, Event event) {
  auto& shelf = shelves_[info.index];
  shelf.history.push_back(event);
  if (shelf.history.size() > history_) {
    shelf.compacted = shelf.history.front().version;
    shelf.history.pop_front();
  }
  bool some_gone = false;
  // By index: an observer may subscribe another one.
  for (std::size_t i = 0; i < observers_.size(); ++i) {
    if (const auto observer = observers_[i].lock()) {
      (*observer)(info, event);
    } else {
      some_gone = true;
    }
  }
  if (some_gone) {
    std::erase_if(observers_, [](const auto& observer) { return observer.expired(); });
  }
}

Store::Backup Store::back_up() const {
  Backup backup{version_, {}};
  for (const Shelf& shelf : shelves_) {
    backup.objects.push_back(shelf.objects);
  }
  return backup;
}

void Store::go_back_to(const Backup& backup) {
  version_ = backup.version;
  const auto differs = [](const Objects& from, const auto& item) {
    const auto found = from.find(item.first);
    return found == from.end() || found->second != item.second;
  };
  std::vector<std::pair<std::size_t, Object>> returned;
  for (std::size_t kind = 0; kind < shelves_.size(); ++kind) {
    const Objects& before = backup.objects[kind];
    for (const auto& item : before) {
      if (differs(shelves_[kind].objects, item)) {
        returned.emplace_back(kind, item.second);
      }
    }
    const Objects now = shelves_[kind].objects;
    for (const auto& item : now) {
      if (differs(before, item)) {
        shelves_[kind].objects.erase(item.first);
        announce(all_infos()[kind],
                 Event{Change::Deleted, item.second, item.second, version_, loop_.now()});
      }
    }
  }
  for (const auto& [kind, object] : returned) {
    shelves_[kind].objects[key_of(*object)] = object;
    announce(all_infos()[kind], Event{Change::Added, object, nullptr, version_, loop_.now()});
  }
  for (Shelf& shelf : shelves_) {
    shelf.history.clear();
    shelf.compacted = version_;
  }
}

bool Store::since(const ResourceInfo& info, std::uint64_t version,
                  const std::function<void(const Event&)>& visit) const {
  const auto& shelf = shelves_[info.index];
  if (version < shelf.compacted) {
    return false;
  }
  const auto first = std::upper_bound(
      shelf.history.begin(), shelf.history.end(), version,
      [](std::uint64_t wanted, const Event& event) { return wanted < event.version; });
  std::for_each(first, shelf.history.end(), visit);
  return true;
}

std::uint64_t Store::compacted(const ResourceInfo& info) const {
  return shelves_[info.index].compacted;
}

std::shared_ptr<void> Store::observe(Observer observer) {
  auto handle = std::make_shared<Observer>(std::move(observer));
  observers_.push_back(handle);
  return handle;
}

}  // namespace millwright::sandbox
