// Remembers what an informer has reported, so that nothing is reported twice, and so that deletions
// without an event and objects re-created under their old name are noticed.
#pragma once

#include "kube/calls/json.hpp"
#include "millwright/kube/informer.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace millwright::kube {

class KnownObjects {
 public:
  explicit KnownObjects(InformerHandlers handlers) : handlers_(std::move(handlers)) {}

  // A complete list begins; what it does not mention is gone at end_list().
  void begin_list() { ++pass_; }

  // The version that was reported of the same object, if it is higher than this one's.
  std::optional<std::string> newer_version(const boost::json::value& object) const {
    const auto entry = known_.find(key_at(object));
    if (entry == known_.end() || entry->second.uid != text_at(object, "metadata.uid") ||
        !model::is_lower_version(text_at(object, "metadata.resourceVersion"),
                                 entry->second.version)) {
      return std::nullopt;
    }
    return entry->second.version;
  }

  void upsert(const boost::json::value& object) {
    auto key = key_at(object);
    const auto uid = text_at(object, "metadata.uid");
    const auto version = text_at(object, "metadata.resourceVersion");
    const auto [entry, is_new] = known_.try_emplace(std::move(key));
    auto& known = entry->second;
    known.pass = pass_;
    if (!is_new && known.uid == uid && known.version == version && !version.empty()) {
      return;
    }
    if (!is_new && known.uid != uid) {
      report_removed(entry->first, known.uid);
    }
    known.uid = uid;
    known.version = version;
    if (handlers_.upsert) {
      handlers_.upsert(object);
    }
  }

  void remove(const boost::json::value& object) {
    const auto entry = known_.find(key_at(object));
    // Another uid: the deletion of a predecessor that was reported already.
    if (entry != known_.end() && entry->second.uid == text_at(object, "metadata.uid")) {
      forget(entry);
    }
  }

  void end_list() {
    for (auto entry = known_.begin(); entry != known_.end();) {
      entry = entry->second.pass == pass_ ? std::next(entry) : forget(entry);
    }
  }

  void report_heard() const {
    if (handlers_.heard) {
      handlers_.heard();
    }
  }
  void report_lost() const {
    if (handlers_.lost) {
      handlers_.lost();
    }
  }
  void report_rewound() const {
    if (handlers_.rewound) {
      handlers_.rewound();
    }
  }
  void report_not_listable(const base::Error& why) const {
    if (handlers_.not_listable) {
      handlers_.not_listable(why);
    }
  }
  void report_synced() {
    if (handlers_.synced) {
      handlers_.synced();
    }
  }

 private:
  struct Known {
    std::string uid;
    std::string version;
    std::uint32_t pass = 0;
  };
  using Map = std::map<model::ObjectKey, Known>;

  Map::iterator forget(Map::iterator entry) {
    const auto key = entry->first;
    const auto uid = std::move(entry->second.uid);
    const auto next = known_.erase(entry);
    report_removed(key, uid);
    return next;
  }
  void report_removed(const model::ObjectKey& key, const std::string& uid) const {
    if (handlers_.remove) {
      handlers_.remove(key, uid);
    }
  }

  InformerHandlers handlers_;
  Map known_;
  std::uint32_t pass_ = 0;
};

}  // namespace millwright::kube
