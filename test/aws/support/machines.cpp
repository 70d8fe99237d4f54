#include "aws/support/machines.hpp"

#include <algorithm>
#include <cstdlib>

namespace millwright::test {
namespace {

using model::Quantity;

constexpr auto kLook = std::chrono::seconds(1);
constexpr auto kBoot = std::chrono::seconds(15);
constexpr std::int64_t kMebi = 1024 * 1024;
constexpr std::int64_t kGibi = 1024 * kMebi;
constexpr std::int64_t kDisk = 20 * kGibi;
// Of what the data sheet says; the planner assumes 92.5 %.
constexpr double kUsableMemory = 0.93;

// What follows `mark` in the user data, up to a character of `ends`.
std::string setting(const std::string& user_data, std::string_view mark, std::string_view ends) {
  const auto at = user_data.find(mark);
  if (at == std::string::npos) {
    return {};
  }
  const auto begin = user_data.find_first_not_of("\" ", at + mark.size());
  const auto end = user_data.find_first_of(ends, begin);
  return begin == std::string::npos ? "" : user_data.substr(begin, end - begin);
}

model::StringMap labels_of(const std::string& user_data) {
  model::StringMap labels;
  std::string rest = setting(user_data, "--node-labels=", "\"' \n");
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto pair = rest.substr(0, comma);
    const auto equals = std::min(pair.find('='), pair.size());
    labels[pair.substr(0, equals)] = equals < pair.size() ? pair.substr(equals + 1) : "";
    rest.erase(0, comma + 1);
  }
  return labels;
}

std::int64_t max_pods_of(const std::string& user_data) {
  for (const std::string_view mark : {"--max-pods=", "maxPods: "}) {
    const auto text = setting(user_data, mark, " '\n");
    if (!text.empty()) {
      return std::strtoll(text.c_str(), nullptr, 10);
    }
  }
  return 0;
}

// What EKS's images keep from pods, as their own scripts work it out.
std::int64_t reserved_cpu(std::int64_t cpus) {
  return 60 + (cpus > 1 ? 10 : 0) + 5 * std::clamp<std::int64_t>(cpus - 2, 0, 2) +
         (5 * std::max<std::int64_t>(cpus - 4, 0) + 1) / 2;
}

}  // namespace

cloud::Instance boot(const Machine& machine) {
  cloud::Instance instance;
  instance.provider_id = machine.provider_id();
  instance.node_name = machine.node_name;
  instance.labels = labels_of(machine.user_data);
  // The stand-ins register no taints of their own: they are taken from the claim.
  instance.labels.erase(std::string(model::kDoNotSyncTaintsLabel));
  instance.labels["node.kubernetes.io/instance-type"] = machine.type;
  instance.labels["topology.kubernetes.io/zone"] = machine.zone;
  instance.labels["topology.kubernetes.io/region"] = "us-west-2";
  const auto pods = max_pods_of(machine.user_data);
  const auto memory =
      static_cast<std::int64_t>(static_cast<double>(machine.memory_mib * kMebi) * kUsableMemory);
  const auto bytes = [](std::int64_t count) {
    return Quantity::from_units(count, Quantity::Format::BinarySI);
  };
  instance.capacity = {{std::string(model::kCpu), Quantity::from_milli(machine.cpus * 1000)},
                       {std::string(model::kMemory), bytes(memory)},
                       {std::string(model::kEphemeralStorage), bytes(kDisk)},
                       {std::string(model::kPods), Quantity::from_units(pods)}};
  instance.allocatable = instance.capacity;
  instance.allocatable[std::string(model::kCpu)] =
      Quantity::from_milli(machine.cpus * 1000 - reserved_cpu(machine.cpus));
  instance.allocatable[std::string(model::kMemory)] =
      bytes(memory - (11 * pods + 255 + 100) * kMebi);
  instance.allocatable[std::string(model::kEphemeralStorage)] = bytes(kDisk - kDisk / 10 - kGibi);
  return instance;
}

base::Task<void> Machines::look() {
  net::ClientRequest request;
  request.url = Facade::url() + "/_facade/machines";
  auto answer = co_await client_.send(std::move(request));
  if (!answer || answer->status != 200) {
    co_return;  // the next look will tell
  }
  for (const auto& machine : read_machines(answer->body)) {
    if (!machine.is_gone() && running_.insert(machine.id).second) {
      listener_.launched(boot(machine), nullptr, kBoot);
    }
    if (machine.is_gone() && running_.erase(machine.id) > 0) {
      listener_.terminated(machine.provider_id());
    }
  }
}

base::Task<void> Machines::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    co_await look();
    co_await base::sleep(loop_, kLook, stop);
  }
}

}  // namespace millwright::test
