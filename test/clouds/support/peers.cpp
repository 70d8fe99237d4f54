#include "clouds/support/peers.hpp"

#include "aws/support/machines.hpp"
#include "millwright/base/base64.hpp"
#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdlib>

namespace millwright::test {
namespace {

namespace json = boost::json;
using model::Quantity;

constexpr std::string_view kAlibabaSecret = "not-a-real-secret-0123456789abc";
constexpr std::string_view kHuaweiSecret = "fakeHuaweiSecretKeyNotReal0123456789abcd";
constexpr std::string_view kHuaweiCluster = "b1c2d3e4-0000-1111-2222-333344445555";
constexpr std::int64_t kPods = 64;
constexpr std::int64_t kDiskGib = 40;

std::string url_of(const char* variable) {
  const char* url = std::getenv(variable);
  return url == nullptr ? "" : url;
}

// Of a size's name: large has two, xlarge four, Nxlarge four times N.
std::int64_t cpus_of(std::string_view size) {
  if (size == "large") {
    return 2;
  }
  const auto times = std::strtoll(std::string(size).c_str(), nullptr, 10);
  return 4 * std::max<std::int64_t>(times, 1);
}

// What is between the dots at `from` and the next.
std::string_view part(std::string_view text, int at) {
  for (; at > 0; --at) {
    text.remove_prefix(std::min(text.find('.') + 1, text.size()));
  }
  return text.substr(0, text.find('.'));
}

// A machine with all of what its type is sold with, but a tenth of the memory.
void equip(cloud::Instance& instance, std::int64_t cpus, std::int64_t gib_per_cpu) {
  const auto bytes = [](std::int64_t count) {
    return Quantity::from_units(count, Quantity::Format::BinarySI);
  };
  constexpr std::int64_t kGibi = std::int64_t{1} << 30;
  instance.capacity = {{std::string(model::kCpu), Quantity::from_milli(cpus * 1000)},
                       {std::string(model::kMemory), bytes(cpus * gib_per_cpu * kGibi / 10 * 9)},
                       {std::string(model::kEphemeralStorage), bytes(kDiskGib * kGibi)},
                       {std::string(model::kPods), Quantity::from_units(kPods)}};
  instance.allocatable = instance.capacity;
}

void place(cloud::Instance& instance, std::string_view type, std::string_view zone) {
  instance.labels[std::string(model::kInstanceTypeLabel)] = type;
  instance.labels[std::string(model::kZoneLabel)] = zone;
}

// The labels that the attach script of ACK was called with.
model::StringMap labels_of_script(const std::string& script) {
  constexpr std::string_view kMark = " --labels ";
  model::StringMap labels;
  const auto at = script.find(kMark);
  if (at == std::string::npos) {
    return labels;
  }
  std::string rest = script.substr(at + kMark.size());
  rest = rest.substr(0, rest.find_first_of(" \n"));
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto equals = std::min(rest.find('='), comma);
    labels[rest.substr(0, equals)] =
        equals < comma ? rest.substr(equals + 1, comma - equals - 1) : "";
    rest.erase(0, comma + 1);
  }
  // The stand-ins register no taints of their own: they are taken from the claim.
  labels.erase(std::string(model::kDoNotSyncTaintsLabel));
  return labels;
}

PeerMachine alibaba_machine(const json::value& item) {
  PeerMachine machine;
  const auto type = std::string(model::text_at(item, "type"));
  auto& instance = machine.instance;
  instance.provider_id = "cn-hangzhou." + std::string(model::text_at(item, "id"));
  instance.node_name = "cn-hangzhou." + std::string(model::text_at(item, "address"));
  const auto script = base::decode_base64(model::text_at(item, "userData")).value_or("");
  instance.labels = labels_of_script(script);
  place(instance, type, model::text_at(item, "zone"));
  const char family = part(type, 1).empty() ? 'g' : part(type, 1).front();
  equip(instance, cpus_of(part(type, 2)), family == 'c' ? 2 : family == 'r' ? 8 : 4);
  if (const auto* claim = item.at("tags").as_object().if_contains("karpenter.sh/nodeclaim")) {
    machine.claim = claim->as_string();
  }
  const auto& gone = item.at("gone");
  machine.is_gone = !gone.is_null() && gone != json::value(false);
  return machine;
}

// CCE's nodes have no labels of ours before they are registered.
PeerMachine huawei_machine(std::string_view uid, const json::value& item) {
  PeerMachine machine;
  const auto& spec = item.at("spec");
  const auto flavor = std::string(model::text_at(spec, "flavor"));
  auto& instance = machine.instance;
  instance.provider_id = uid;
  instance.node_name = model::text_at(item, "address");
  place(instance, flavor, model::text_at(spec, "az"));
  equip(instance, cpus_of(part(flavor, 1)),
        std::strtoll(std::string(part(flavor, 2)).c_str(), nullptr, 10));
  if (const auto* claim =
          spec.at("k8sTags").as_object().if_contains("karpenter.k8s.huawei/nodeclaim")) {
    machine.claim = claim->as_string();
  }
  machine.is_gone = item.at("gone").as_bool();
  return machine;
}

PeerMachine aws_machine(const Machine& found) {
  const auto claim = found.tags.find("karpenter.sh/nodeclaim");
  return {.instance = boot(found),
          .claim = claim == found.tags.end() ? "" : claim->second,
          .is_gone = found.is_gone()};
}

// A count, or a list, under one of the names that the ledgers have for it.
bool is_anything(const json::value& ledger, std::string_view name) {
  const auto* found = ledger.as_object().if_contains(name);
  if (found == nullptr) {
    return false;
  }
  return found->is_array() ? !found->as_array().empty() : found->to_number<std::int64_t>() != 0;
}

std::vector<std::string> ledger_problems(const json::value& ledger) {
  std::vector<std::string> problems;
  if (is_anything(ledger, "bad_signatures") || is_anything(ledger, "badSignatures")) {
    problems.emplace_back("calls were signed wrongly");
  }
  if (is_anything(ledger, "leaks")) {
    problems.emplace_back("a secret was shown in a call");
  }
  return problems;
}

}  // namespace

Peer aws_peer() {
  Peer peer;
  peer.name = "aws";
  peer.url = Facade::url();
  peer.environment = Facade::environment();
  peer.flags = {"--cluster-name=" + std::string(kFacadeCluster)};
  peer.secrets = {std::string(kFacadeSecret)};
  peer.machines_path = "/_facade/machines";
  peer.read_machines = [](const json::value& answer) {
    std::vector<PeerMachine> machines;
    for (const auto& machine : read_machines(json::serialize(answer))) {
      machines.push_back(aws_machine(machine));
    }
    return machines;
  };
  peer.find_problems = ledger_problems;
  return peer;
}

Peer alibaba_peer() {
  Peer peer;
  peer.name = "alibaba";
  peer.url = url_of("MILLWRIGHT_ALIBABA_FACADE");
  peer.environment = {{"ALIBABA_CLOUD_REGION_ID", "cn-hangzhou"},
                      {"ALIBABA_CLOUD_ACCESS_KEY_ID", "LTAIMILLWRIGHTTEST00"},
                      {"ALIBABA_CLOUD_ACCESS_KEY_SECRET", std::string(kAlibabaSecret)},
                      {"CLUSTER_ID", "c0123456789abcdef"}};
  for (const std::string service : {"ECS", "VPC", "CS", "STS"}) {
    peer.environment[service + "_ENDPOINT"] = peer.url;
  }
  peer.secrets = {std::string(kAlibabaSecret)};
  peer.machines_path = "/_facade/machines";
  peer.read_machines = [](const json::value& answer) {
    std::vector<PeerMachine> machines;
    for (const auto& item : answer.as_array()) {
      machines.push_back(alibaba_machine(item));
    }
    return machines;
  };
  peer.find_problems = ledger_problems;
  return peer;
}

Peer huawei_peer() {
  Peer peer;
  peer.name = "huawei";
  peer.url = url_of("MILLWRIGHT_HUAWEI_FACADE");
  peer.environment = {{"HUAWEICLOUD_SDK_REGION_ID", "cn-north-4"},
                      {"HUAWEICLOUD_SDK_CCE_CLUSTER_ID", std::string(kHuaweiCluster)},
                      {"HUAWEICLOUD_SDK_AK", "HWFAKEACCESSKEY00001"},
                      {"HUAWEICLOUD_SDK_SK", std::string(kHuaweiSecret)}};
  for (const std::string service : {"IAM", "CCE", "ECS", "VPC", "BSS"}) {
    peer.environment["HUAWEICLOUD_SDK_" + service + "_ENDPOINT"] = peer.url;
  }
  peer.secrets = {std::string(kHuaweiSecret)};
  peer.machines_path = "/_facade/nodes";
  peer.read_machines = [](const json::value& answer) {
    std::vector<PeerMachine> machines;
    for (const auto& [uid, item] : answer.as_object()) {
      machines.push_back(huawei_machine(uid, item));
    }
    return machines;
  };
  peer.find_problems = ledger_problems;
  return peer;
}

}  // namespace millwright::test
