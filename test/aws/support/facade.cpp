#include "aws/support/facade.hpp"

#include "millwright/base/base64.hpp"
#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

#include <cstdlib>

namespace millwright::test {

namespace json = boost::json;

std::vector<Machine> read_machines(const std::string& answer) {
  std::vector<Machine> result;
  const auto listed = json::parse(answer);
  for (const auto& item : listed.as_array()) {
    Machine machine;
    machine.id = model::text_at(item, "id");
    machine.type = model::text_at(item, "type");
    machine.zone = model::text_at(item, "zone");
    machine.state = model::text_at(item, "state");
    machine.node_name = model::text_at(item, "dns");
    machine.cpus = item.at("cpus").to_number<std::int64_t>();
    machine.memory_mib = item.at("memory_mib").to_number<std::int64_t>();
    machine.user_data = base::decode_base64(model::text_at(item, "user_data")).value_or("");
    for (const auto& [key, value] : item.at("tags").as_object()) {
      machine.tags[key] = std::string(value.as_string());
    }
    result.push_back(std::move(machine));
  }
  return result;
}

Facade::Facade() : client_(net::make_client(loop_)) {}

std::string Facade::url() {
  const char* url = std::getenv("MILLWRIGHT_AWS_FACADE");
  return url == nullptr ? "" : url;
}

std::map<std::string, std::string> Facade::environment() {
  return {{"AWS_REGION", "us-west-2"},
          {"AWS_ENDPOINT_URL", url()},
          {"AWS_ACCESS_KEY_ID", std::string(kFacadeKey)},
          {"AWS_SECRET_ACCESS_KEY", std::string(kFacadeSecret)}};
}

json::value Facade::control(const std::string& path, const std::string& body) {
  net::ClientRequest request;
  request.method = body.empty() ? "GET" : "POST";
  request.url = url() + path;
  request.body = body;
  const auto answer = client_->send_blocking(std::move(request));
  return answer && answer->status == 200 ? json::parse(answer->body) : json::value();
}

std::vector<Machine> Facade::machines() {
  return read_machines(json::serialize(control("/_facade/machines")));
}

std::int64_t Facade::calls(const std::string& action) {
  const auto ledger = control("/_facade/ledger");
  const auto* found = ledger.at("calls").as_object().if_contains(action);
  return found == nullptr ? 0 : found->as_int64();
}

LedgerMark::LedgerMark(Facade& facade)
    : facade_(facade),
      bad_signatures_(facade.control("/_facade/ledger").at("bad_signatures").as_int64()) {
  for (const auto& machine : facade.machines()) {
    known_[machine.id] = true;
  }
}

std::vector<Machine> LedgerMark::launched() {
  std::vector<Machine> result;
  for (auto& machine : facade_.machines()) {
    if (!known_.contains(machine.id)) {
      result.push_back(std::move(machine));
    }
  }
  return result;
}

std::vector<std::string> LedgerMark::problems() {
  std::vector<std::string> result;
  std::map<std::string, int> by_claim;
  for (const auto& machine : launched()) {
    if (!machine.is_gone()) {
      result.push_back(machine.id + " is still " + machine.state);
    }
    // Of a launch for many claims only those that became Nodes are named after one.
    const auto claim = machine.tags.find("karpenter.sh/nodeclaim");
    if (claim == machine.tags.end() && !machine.tags.contains("millwright.io/boot-shape")) {
      result.push_back(machine.id + " was launched for no claim");
    } else if (claim != machine.tags.end() && ++by_claim[claim->second] > 1) {
      result.push_back("claim " + claim->second + " was launched twice");
    }
  }
  const auto ledger = facade_.control("/_facade/ledger");
  for (const auto& [token, ids] : ledger.at("launches").as_object()) {
    const auto wanted = ledger.at("wanted").at(token).as_int64();
    if (static_cast<std::int64_t>(ids.as_array().size()) > wanted) {
      result.push_back("client token " + std::string(token) + " launched more than it asked for");
    }
  }
  if (ledger.at("bad_signatures").as_int64() != bad_signatures_) {
    result.emplace_back("calls were signed wrongly");
  }
  for (const auto& call : ledger.at("leaks").as_array()) {
    result.push_back("a secret was shown in " + std::string(call.as_string()));
  }
  const auto left = facade_.control("/_facade/leftovers");
  for (const auto* kind : {"templates", "profiles"}) {
    for (const auto& name : left.at(kind).as_array()) {
      result.push_back(std::string(kind) + ": " + std::string(name.as_string()) + " is left");
    }
  }
  return result;
}

}  // namespace millwright::test
