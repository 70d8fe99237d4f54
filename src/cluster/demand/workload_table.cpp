#include "cluster/demand/workload_table.hpp"

#include <utility>

namespace millwright::cluster {

std::vector<std::string> WorkloadTable::put(const model::Workload& workload) {
  const model::ObjectMeta& meta = workload.meta;
  const Wants wants{.pods = workload.pods, .at_once = workload.at_once};
  Entries& entries = by_kind_[workload.kind];
  const auto known = entries.find(model::key_of(meta));
  std::vector<std::string> changed;
  if (known != entries.end()) {
    Entry& entry = known->second;
    if (model::is_lower_version(meta.resource_version, entry.resource_version)) {
      return changed;
    }
    if (entry.uid == meta.uid && wants.pods > 0) {
      entry.resource_version = meta.resource_version;
      if (entry.wants != wants) {
        entry.wants = wants;
        changed.push_back(meta.uid);
      }
      return changed;
    }
    changed.push_back(entry.uid);
    drop(entries, known);
  }
  if (wants.pods > 0 && !meta.uid.empty()) {
    const Entry& entry =
        entries
            .insert_or_assign(
                model::key_of(meta),
                Entry{.uid = meta.uid, .resource_version = meta.resource_version, .wants = wants})
            .first->second;
    by_uid_.insert_or_assign(entry.uid, &entry);
    changed.push_back(meta.uid);
  }
  return changed;
}

std::vector<std::string> WorkloadTable::erase(std::string_view kind, const model::ObjectKey& key,
                                              std::string_view uid) {
  std::vector<std::string> changed;
  const auto entries = by_kind_.find(kind);
  if (entries == by_kind_.end()) {
    return changed;
  }
  const auto known = entries->second.find(key);
  if (known != entries->second.end() && (uid.empty() || known->second.uid == uid)) {
    changed.push_back(known->second.uid);
    drop(entries->second, known);
  }
  return changed;
}

const WorkloadTable::Wants* WorkloadTable::find(std::string_view uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? nullptr : &found->second->wants;
}

std::string_view WorkloadTable::version_of(std::string_view uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? std::string_view() : found->second->resource_version;
}

void WorkloadTable::drop(Entries& entries, Entries::iterator entry) {
  by_uid_.erase(entry->second.uid);  // first: its key is a view of the entry
  entries.erase(entry);
}

}  // namespace millwright::cluster
