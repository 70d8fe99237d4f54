// Everything that is not a pod, a node, a workload or an event.
#include "millwright/model/codec.hpp"
#include "sandbox/apiserver/showing/cells.hpp"
#include "sandbox/apiserver/showing/printers.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

std::string list_text(const boost::json::array& items) {
  std::string all;
  for (const auto& item : items) {
    all += (all.empty() ? "" : ",");
    all += item.is_string() ? std::string(item.get_string()) : to_text(item);
  }
  return all;
}

Cells print_namespace(const Json& json, base::TimePoint now) {
  return {Json(text(json, "status.phase")), age(json, now)};
}

std::string int_or_text(const Json& json, std::string_view path) {
  const auto* value = find(json, path);
  return value == nullptr     ? "N/A"
         : value->is_string() ? std::string(value->get_string())
                              : to_text(*value);
}

Cells print_budget(const Json& json, base::TimePoint now) {
  return {Json(int_or_text(json, "spec.minAvailable")),
          Json(int_or_text(json, "spec.maxUnavailable")), number(json, "status.disruptionsAllowed"),
          age(json, now)};
}

Cells print_service(const Json& json, base::TimePoint now) {
  std::string ports;
  for (const auto& port : items(json, "spec.ports")) {
    ports += fmt::format("{}{}/{}", ports.empty() ? "" : ",", integer(port, "port"),
                         text(port, "protocol"));
  }
  return {Json(text(json, "spec.type")),
          cell(text(json, "spec.clusterIP")),
          Json("<none>"),
          cell(ports),
          age(json, now),
          Json(selector_text(find(json, "spec.selector")))};
}

Cells print_config_map(const Json& json, base::TimePoint now) {
  return {Json(fields(json, "data").size() + fields(json, "binaryData").size()), age(json, now)};
}

Cells print_secret(const Json& json, base::TimePoint now) {
  return {Json(text(json, "type")), Json(fields(json, "data").size()), age(json, now)};
}

Cells print_service_account(const Json& json, base::TimePoint now) {
  return {Json(items(json, "secrets").size()), age(json, now)};
}

Cells print_volume_claim(const Json& json, base::TimePoint now) {
  return {Json(text(json, "status.phase")),
          Json(text(json, "spec.volumeName")),
          Json(text(json, "status.capacity.storage")),
          Json(list_text(items(json, "spec.accessModes"))),
          Json(text(json, "spec.storageClassName")),
          Json("<unset>"),
          age(json, now),
          Json(text(json, "spec.volumeMode"))};
}

Cells print_volume(const Json& json, base::TimePoint now) {
  const auto ns = text(json, "spec.claimRef.namespace");
  return {Json(text(json, "spec.capacity.storage")),
          Json(list_text(items(json, "spec.accessModes"))),
          Json(text(json, "spec.persistentVolumeReclaimPolicy")),
          Json(text(json, "status.phase")),
          Json(ns.empty() ? "" : fmt::format("{}/{}", ns, text(json, "spec.claimRef.name"))),
          Json(text(json, "spec.storageClassName")),
          age(json, now)};
}

Cells print_storage_class(const Json& json, base::TimePoint now) {
  return {Json(text(json, "provisioner")), Json(text(json, "reclaimPolicy")),
          Json(text(json, "volumeBindingMode")), Json(boolean(json, "allowVolumeExpansion")),
          age(json, now)};
}

Cells print_priority_class(const Json& json, base::TimePoint now) {
  return {number(json, "value"), Json(boolean(json, "globalDefault")), age(json, now),
          Json(text(json, "preemptionPolicy"))};
}

Cells print_lease(const Json& json, base::TimePoint now) {
  return {Json(text(json, "spec.holderIdentity")), age(json, now)};
}

Cells print_webhooks(const Json& json, base::TimePoint now) {
  return {Json(items(json, "webhooks").size()), age(json, now)};
}

Cells print_csi_node(const Json& json, base::TimePoint now) {
  return {Json(items(json, "spec.drivers").size()), age(json, now)};
}

Cells print_attachment(const Json& json, base::TimePoint now) {
  return {Json(text(json, "spec.attacher")), Json(text(json, "spec.source.persistentVolumeName")),
          Json(text(json, "spec.nodeName")), Json(boolean(json, "status.attached")),
          age(json, now)};
}

}  // namespace

const std::vector<Printer>& configuration_printers() {
  static const std::vector<Printer> kPrinters = {
      {"Namespace", {{"Status"}, {"Age"}}, print_namespace},
      {"PodDisruptionBudget",
       {{"Min Available"}, {"Max Unavailable"}, {"Allowed Disruptions", false, true}, {"Age"}},
       print_budget},
      {"Service",
       {{"Type"}, {"Cluster-IP"}, {"External-IP"}, {"Port(s)"}, {"Age"}, {"Selector", true}},
       print_service},
      {"ConfigMap", {{"Data", false, true}, {"Age"}}, print_config_map},
      {"Secret", {{"Type"}, {"Data", false, true}, {"Age"}}, print_secret},
      {"ServiceAccount", {{"Secrets", false, true}, {"Age"}}, print_service_account},
      {"PersistentVolumeClaim",
       {{"Status"},
        {"Volume"},
        {"Capacity"},
        {"Access Modes"},
        {"StorageClass"},
        {"VolumeAttributesClass"},
        {"Age"},
        {"VolumeMode", true}},
       print_volume_claim},
      {"PersistentVolume",
       {{"Capacity"},
        {"Access Modes"},
        {"Reclaim Policy"},
        {"Status"},
        {"Claim"},
        {"StorageClass"},
        {"Age"}},
       print_volume},
      {"StorageClass",
       {{"Provisioner"},
        {"ReclaimPolicy"},
        {"VolumeBindingMode"},
        {"AllowVolumeExpansion"},
        {"Age"}},
       print_storage_class},
      {"PriorityClass",
       {{"Value", false, true}, {"Global-Default"}, {"Age"}, {"PreemptionPolicy"}},
       print_priority_class},
      {"Lease", {{"Holder"}, {"Age"}}, print_lease},
      {"ValidatingWebhookConfiguration", {{"Webhooks", false, true}, {"Age"}}, print_webhooks},
      {"MutatingWebhookConfiguration", {{"Webhooks", false, true}, {"Age"}}, print_webhooks},
      {"CSINode", {{"Drivers", false, true}, {"Age"}}, print_csi_node},
      {"VolumeAttachment",
       {{"Attacher"}, {"PV"}, {"Node"}, {"Attached"}, {"Age"}},
       print_attachment},
  };
  return kPrinters;
}

}  // namespace millwright::sandbox
