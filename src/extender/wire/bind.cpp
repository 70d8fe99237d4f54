// The bind verb's texts: ExtenderBindingArgs and ExtenderBindingResult.
#include "extender/wire/json_fields.hpp"
#include "millwright/extender/extender.hpp"
#include "millwright/model/json_fields.hpp"

namespace millwright::extender {
namespace {

base::Result<std::string> required(const boost::json::object& object, std::string_view name) {
  const std::string_view text = model::as_text(find_field(object, name));
  if (text.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "bind request: " + std::string(name) + " must be a text that is not empty");
  }
  return std::string(text);
}

}  // namespace

base::Result<Binding> parse_binding(std::string_view body) {
  RequestMemory memory;
  MW_TRY(json, parse_request(body, memory));
  if (!json.is_object()) {
    return base::fail(base::ErrorKind::Invalid, "bind request: must be a JSON object");
  }
  const boost::json::object& object = json.get_object();
  Binding binding;
  MW_TRY(name, required(object, "PodName"));
  MW_TRY(ns, required(object, "PodNamespace"));
  MW_TRY(uid, required(object, "PodUID"));
  MW_TRY(node, required(object, "Node"));
  binding.pod = model::ObjectKey{std::move(ns), std::move(name)};
  binding.pod_uid = std::move(uid);
  binding.node = std::move(node);
  return binding;
}

base::Result<> check_binding(const Binding& binding, const scheduling::Snapshot& snapshot,
                             const cluster::Ledger& ledger, base::TimePoint now) {
  const std::string pod = binding.pod.to_string();
  if (find_waiting(snapshot, binding.pod, binding.pod_uid) == nullptr) {
    return base::fail(base::ErrorKind::Denied, "bind request: no pod " + pod + " with uid " +
                                                   binding.pod_uid + " waits for a node");
  }
  const auto pass = ledger.pass_of(binding.pod_uid);
  if (pass == nullptr || now >= pass->until ||
      !pass->may_land_on(cluster::Ledger::node_hash(binding.node))) {
    return base::fail(base::ErrorKind::Denied, "bind request: filter did not let pod " + pod +
                                                   " through to node " + binding.node);
  }
  return {};
}

std::string binding_result(std::string_view error) {
  std::string body = "{\"Error\":";
  append_quoted(body, error);
  return body += '}';
}

}  // namespace millwright::extender
