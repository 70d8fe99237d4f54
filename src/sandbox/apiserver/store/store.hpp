// The stored objects, with one version counter for all of them, as in etcd, and a bounded history
// of events per resource from which watches resume. Loop thread only.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/sandbox/api_server.hpp"
#include "sandbox/apiserver/store/resources.hpp"
#include "sandbox/json.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace millwright::sandbox {

model::ObjectKey key_of(const Json& object);
std::uint64_t version_of(const Json& object);

class Store {
 public:
  using Objects = std::map<model::ObjectKey, Object>;
  using Observer = std::function<void(const ResourceInfo&, const Event&)>;

  Store(base::Loop& loop, std::size_t history);

  const Objects& objects(const ResourceInfo& info) const;
  // nullptr when absent.
  Object find(const ResourceInfo& info, const model::ObjectKey& key) const;
  // Stores a new or changed object with the next version written into it.
  Object put(const ResourceInfo& info, Json object);
  // The last state, with the version of the deletion; nullptr when absent.
  Object erase(const ResourceInfo& info, const model::ObjectKey& key);

  std::uint64_t version() const { return version_; }
  void skip_versions(std::uint64_t count) { version_ += count; }
  // Everything as it is.
  struct Backup {
    std::uint64_t version = 0;
    std::vector<Objects> objects;  // by kind
  };
  Backup back_up() const;
  // As etcd after a restore: the objects, and the version, are what they were, and what happened
  // since is forgotten. Observers see what differs deleted, and then added as it was.
  void go_back_to(const Backup& backup);

  // Events after `version`, oldest first; false when some of them are no longer kept.
  bool since(const ResourceInfo& info, std::uint64_t version,
             const std::function<void(const Event&)>& visit) const;
  // The newest version that can no longer be resumed from.
  std::uint64_t compacted(const ResourceInfo& info) const;

  // The callback runs inside put() and erase() and must not write. It ends with the handle.
  std::shared_ptr<void> observe(Observer observer);

 private:
  struct Shelf {
    Objects objects;
    std::deque<Event> history;
    std::uint64_t compacted = 0;
  };
  void announce(const ResourceInfo& info, Event event);

  base::Loop& loop_;
  std::size_t history_;
  std::uint64_t version_ = 1;
  std::vector<Shelf> shelves_;
  std::vector<std::weak_ptr<Observer>> observers_;
};

}  // namespace millwright::sandbox
