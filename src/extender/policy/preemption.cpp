#include "extender/policy/preemption.hpp"

#include "millwright/model/json_fields.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>

namespace millwright::extender {
namespace {

using base::ErrorKind;

// MetaPod{UID}, or a Pod with its metadata.uid.
base::Result<std::string> victim_uid(const boost::json::value& victim, bool whole_pods) {
  const boost::json::object* holder = victim.if_object();
  if (holder != nullptr && whole_pods) {
    const boost::json::value* const meta = find_field(*holder, "metadata");
    holder = meta == nullptr ? nullptr : meta->if_object();
  }
  const std::string_view uid =
      model::as_text(holder == nullptr ? nullptr : find_field(*holder, "uid"));
  if (uid.empty()) {
    return base::fail(ErrorKind::Invalid, "a victim has no UID");
  }
  return std::string(uid);
}

base::Result<PreemptionNode> read_node(std::string_view name, const boost::json::value& victims,
                                       bool whole_pods) {
  PreemptionNode node;
  node.name = name;
  if (victims.is_null()) {
    return node;
  }
  if (!victims.is_object()) {
    return base::fail(ErrorKind::Invalid, "victims of " + node.name + " must be an object");
  }
  const boost::json::object& object = victims.get_object();
  if (const boost::json::value* const pods = find_field(object, "Pods")) {
    if (!pods->is_array()) {
      return base::fail(ErrorKind::Invalid, "victims of " + node.name + ": Pods must be an array");
    }
    for (const boost::json::value& victim : pods->get_array()) {
      auto uid = victim_uid(victim, whole_pods);
      if (!uid) {
        return base::with_context("victims of " + node.name, uid.error());
      }
      node.victim_uids.push_back(*std::move(uid));
    }
  }
  if (const boost::json::value* const violations = find_field(object, "NumPDBViolations")) {
    if (!violations->is_int64()) {
      return base::fail(ErrorKind::Invalid,
                        "victims of " + node.name + ": NumPDBViolations must be an integer");
    }
    node.pdb_violations = violations->get_int64();
  }
  return node;
}

}  // namespace

base::Result<PreemptionRequest> read_preemption(const boost::json::value& json) {
  if (!json.is_object()) {
    return base::fail(ErrorKind::Invalid, "an object is expected");
  }
  PreemptionRequest request;
  request.pod = find_field(json.get_object(), "Pod");
  if (request.pod == nullptr || !request.pod->is_object()) {
    return base::fail(ErrorKind::Invalid, "Pod is missing");
  }
  const boost::json::value* victims = find_field(json.get_object(), "NodeNameToMetaVictims");
  const bool whole_pods = victims == nullptr;
  if (whole_pods) {
    victims = find_field(json.get_object(), "NodeNameToVictims");
  }
  if (victims == nullptr) {
    return request;  // no candidates
  }
  if (!victims->is_object()) {
    return base::fail(ErrorKind::Invalid, "the victims by node name must be an object");
  }
  for (const auto& entry : victims->get_object()) {
    MW_TRY(node, read_node({entry.key().data(), entry.key().size()}, entry.value(), whole_pods));
    request.nodes.push_back(std::move(node));
  }
  return request;
}

model::ResourceList freed_by(const PreemptionNode& node, const scheduling::NodeRecord* record) {
  model::ResourceList freed;
  if (record == nullptr) {
    return freed;
  }
  for (const scheduling::PodPtr& pod : record->pods) {
    if (std::find(node.victim_uids.begin(), node.victim_uids.end(), pod->meta.uid) !=
        node.victim_uids.end()) {
      model::add_to(freed, scheduling::effective_requests(*pod));
    }
  }
  return freed;
}

std::string preemption_result(const std::vector<PreemptionNode>& nodes) {
  std::string body = R"({"NodeNameToMetaVictims":{)";
  for (const PreemptionNode& node : nodes) {
    if (&node != &nodes.front()) {
      body += ',';
    }
    append_quoted(body, node.name);
    body += R"(:{"Pods":[)";
    for (const std::string& uid : node.victim_uids) {
      body += &uid == &node.victim_uids.front() ? R"({"UID":)" : R"(,{"UID":)";
      append_quoted(body, uid);
      body += '}';
    }
    body += R"(],"NumPDBViolations":)";
    body += std::to_string(node.pdb_violations);
    body += '}';
  }
  return body += "}}";
}

}  // namespace millwright::extender
