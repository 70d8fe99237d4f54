// A snapshot as text, so that two can be compared and a difference read.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <sstream>
#include <string>

namespace millwright::testing {

inline std::string describe(const scheduling::NodeRecord& record) {
  std::ostringstream out;
  out << (record.node ? "node " + record.node->meta.name + "@" + record.node->meta.uid + "#" +
                            record.node->meta.resource_version
                      : std::string("no node"));
  out << (record.claim ? " claim " + record.claim->meta.name + "@" + record.claim->meta.uid + "#" +
                             record.claim->meta.resource_version
                       : std::string(" no claim"));
  out << " pods [";
  for (const auto& pod : record.pods) {
    out << pod->meta.uid << "#" << pod->meta.resource_version << " ";
  }
  out << "] " << model::to_string(record.pod_requests) << " daemons "
      << model::to_string(record.daemon_requests);
  if (record.marked_for_deletion) {
    out << " marked";
  }
  if (record.fenced) {
    out << " fenced";
  }
  if (record.nominated_until) {
    out << " nominated until " << base::format_rfc3339(*record.nominated_until);
  }
  return out.str();
}

inline std::string describe(const scheduling::Snapshot& snapshot) {
  std::ostringstream out;
  for (const auto& record : snapshot.nodes) {
    out << describe(*record) << "\n";
  }
  for (const auto& pod : snapshot.pending_pods) {
    out << "pending " << pod->meta.name << "@" << pod->meta.uid << "#" << pod->meta.resource_version
        << "\n";
  }
  for (const auto& reservation : snapshot.reservations) {
    out << "reserved " << reservation.count << " of " << reservation.group.text() << " on "
        << reservation.target << " until " << base::format_rfc3339(reservation.until) << "\n";
  }
  for (const auto& demand : snapshot.demand) {
    out << "demand of " << demand.group.text() << " waiting " << demand.waiting.size()
        << " leaving " << demand.leaving.size() << " expected " << demand.expected << " later "
        << demand.later << "\n";
  }
  const auto list = [&out](std::string_view kind, const auto& objects) {
    for (const auto& object : objects) {
      out << kind << " " << object->meta.name << "/" << object->meta.namespace_ << "#"
          << object->meta.resource_version << "\n";
    }
  };
  list("pool", snapshot.node_pools);
  list("class", snapshot.node_classes);
  list("daemonset", snapshot.daemon_sets);
  list("budget", snapshot.disruption_budgets);
  list("pvc", snapshot.volume_claims);
  list("pv", snapshot.volumes);
  list("storageclass", snapshot.storage_classes);
  list("csinode", snapshot.csi_nodes);
  list("attachment", snapshot.volume_attachments);
  list("deviceclass", snapshot.device_classes);
  list("claim", snapshot.resource_claims);
  list("claimtemplate", snapshot.resource_claim_templates);
  list("slice", snapshot.resource_slices);
  list("namespace", snapshot.namespaces);
  return out.str();
}

}  // namespace millwright::testing
