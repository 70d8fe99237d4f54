#include "peer/runner/peer.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

namespace millwright::peer {
namespace {

namespace json = boost::json;
using scheduling::Plan;
using scheduling::PlannedClaim;

// The arguments of one command must fit into 128 KiB.
constexpr std::size_t kFilesAtOnce = 500;

base::Result<std::string> output_of(const std::string& command) {
  struct Close {
    int* status;
    void operator()(std::FILE* pipe) const { *status = pclose(pipe); }
  };
  int status = 0;
  std::string text;
  {
    const std::unique_ptr<std::FILE, Close> pipe(popen(command.c_str(), "r"), Close{&status});
    if (!pipe) {
      return base::fail(base::ErrorKind::Internal, "cannot start: " + command.substr(0, 200));
    }
    std::array<char, 65536> buffer{};
    for (std::size_t got = 0;
         (got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) {
      text.append(buffer.data(), got);
    }
  }
  // The shell is replaced by the program, or says what ended it.
  const bool is_killed =
      WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 128 + SIGKILL;
  if (is_killed) {
    return base::fail(base::ErrorKind::Timeout, "stopped: " + command.substr(0, 200));
  }
  if (status != 0) {
    return base::fail(base::ErrorKind::Internal, "failed: " + command.substr(0, 200));
  }
  return text;
}

model::SelectorRequirement requirement_of(const json::object& item) {
  model::SelectorRequirement result;
  result.key = json::value_to<std::string>(item.at("key"));
  result.op = model::parse_operator(json::value_to<std::string>(item.at("operator"))).value();
  if (const auto* values = item.if_contains("values"); values != nullptr && values->is_array()) {
    result.values = json::value_to<std::vector<std::string>>(*values);
  }
  if (const auto* least = item.if_contains("minValues"); least != nullptr && least->is_int64()) {
    result.min_values = static_cast<std::int32_t>(least->as_int64());
  }
  return result;
}

PlannedClaim claim_of(const json::object& item) {
  PlannedClaim claim;
  claim.node_pool = json::value_to<std::string>(item.at("node_pool"));
  if (item.at("instance_types").is_array()) {
    claim.instance_types = json::value_to<std::vector<std::string>>(item.at("instance_types"));
  }
  std::vector<model::SelectorRequirement> requirements;
  for (const auto& requirement : item.at("requirements").as_array()) {
    requirements.push_back(requirement_of(requirement.as_object()));
  }
  claim.requirements = scheduling::Requirements(requirements);
  for (const auto& [name, amount] : item.at("requests").as_object()) {
    const auto quantity = model::Quantity::parse(json::value_to<std::string>(amount));
    claim.requests.emplace(std::string(name), quantity.value_or(model::Quantity{}));
  }
  for (const auto& [key, value] : item.at("labels").as_object()) {
    claim.labels[std::string(key)] = json::value_to<std::string>(value);
  }
  claim.pod_uids = json::value_to<std::vector<std::string>>(item.at("pods"));
  return claim;
}

PeerPlan plan_of(const json::object& item) {
  PeerPlan result;
  Plan& plan = result.plan;
  result.construct_seconds = item.at("construct_seconds").to_number<double>();
  result.solve_seconds = item.at("solve_seconds").to_number<double>();
  result.solve_cpu_seconds = item.at("solve_cpu_seconds").to_number<double>();
  for (const auto& claim : item.at("claims").as_array()) {
    for (const auto& uid : plan.claims.emplace_back(claim_of(claim.as_object())).pod_uids) {
      plan.placements.push_back({uid, plan.claims.size() - 1, 1});
    }
  }
  for (const auto& [uid, node] : item.at("placements").as_object()) {
    plan.placements.push_back({std::string(uid), json::value_to<std::string>(node), 1});
  }
  for (const auto& [uid, reason] : item.at("refusals").as_object()) {
    plan.refusals.push_back({std::string(uid), json::value_to<std::string>(reason), {}});
  }
  const auto by_uid = [](const auto& a, const auto& b) { return a.pod_uid < b.pod_uid; };
  std::sort(plan.placements.begin(), plan.placements.end(), by_uid);
  std::sort(plan.refusals.begin(), plan.refusals.end(), by_uid);
  return result;
}

PeerSettlement settlement_of(const json::object& item) {
  PeerSettlement result;
  result.before = item.at("before").to_number<double>();
  result.after = item.at("after").to_number<double>();
  result.nodes = item.at("nodes").to_number<std::size_t>();
  result.evicted = item.at("evicted").to_number<std::size_t>();
  for (const auto& each : item.at("commands").as_array()) {
    const auto& command = each.as_object();
    result.commands.push_back(
        {.method = json::value_to<std::string>(command.at("method")),
         .candidates = json::value_to<std::vector<std::string>>(command.at("candidates")),
         .nodes = json::value_to<std::vector<std::string>>(command.at("nodes")),
         .instance_types = json::value_to<std::vector<std::string>>(command.at("instance_types")),
         .moved = command.at("placements").as_object().size(),
         .price_after = command.at("price_after").to_number<double>()});
  }
  return result;
}

// The program's answers to `question` about each file, in order. `caller` is a command that runs
// it.
base::Result<std::vector<json::value>> ask(const std::string& caller, const std::string& program,
                                           const std::string& question,
                                           const std::vector<std::string>& files) {
  std::vector<json::value> answers;
  for (std::size_t begin = 0; begin < files.size(); begin += kFilesAtOnce) {
    std::string command = caller + "'" + program + "' " + question;
    for (std::size_t i = begin; i < std::min(begin + kFilesAtOnce, files.size()); ++i) {
      command += " '" + files[i] + "'";
    }
    const auto text = output_of(command);
    if (!text) {
      return tl::unexpected(text.error());
    }
    for (std::size_t line = 0; line < text->size();) {
      const std::size_t end = std::min(text->find('\n', line), text->size());
      auto value = model::parse_json(std::string_view(*text).substr(line, end - line));
      if (!value) {
        return tl::unexpected(value.error());
      }
      answers.push_back(*std::move(value));
      line = end + 1;
    }
  }
  if (answers.size() != files.size()) {
    return base::fail(base::ErrorKind::Internal, "the peer answered for " +
                                                     std::to_string(answers.size()) + " of " +
                                                     std::to_string(files.size()) + " files");
  }
  return answers;
}

}  // namespace

std::string program_path() {
  const char* path = std::getenv("MILLWRIGHT_PEER");
  return path == nullptr ? std::string() : path;
}

base::Result<std::vector<PeerPlan>> run_peer(const std::string& program,
                                             const std::vector<std::string>& files,
                                             const PeerRun& run) {
  std::string caller;
  if (run.memory_mib > 0) {
    caller += "ulimit -v " + std::to_string(run.memory_mib * 1024) + "; ";
  }
  if (run.cpu_seconds > 0) {
    caller += "ulimit -t " + std::to_string(run.cpu_seconds) + "; ";
  }
  const auto answers = ask(caller, program, "solve -seconds " + std::to_string(run.seconds), files);
  if (!answers) {
    return tl::unexpected(answers.error());
  }
  std::vector<PeerPlan> plans;
  for (const auto& answer : *answers) {
    plans.push_back(plan_of(answer.as_object()));
  }
  return plans;
}

base::Result<std::vector<PeerSettlement>> run_consolidation(const std::string& program,
                                                            const std::vector<std::string>& files) {
  const auto answers = ask("", program, "consolidate", files);
  if (!answers) {
    return tl::unexpected(answers.error());
  }
  std::vector<PeerSettlement> settlements;
  for (const auto& answer : *answers) {
    settlements.push_back(settlement_of(answer.as_object()));
  }
  return settlements;
}

void price_claims(const scheduling::Problem& problem, Plan& plan) {
  std::map<std::string, const scheduling::InstanceType*> by_name;
  for (const auto& option : problem.pools) {
    for (const auto& type : *option.types) {
      by_name.emplace(type.name, &type);
    }
  }
  for (PlannedClaim& claim : plan.claims) {
    claim.price = INFINITY;
    for (const auto& name : claim.instance_types) {
      const auto* offering = scheduling::cheapest_offering(*by_name.at(name), claim.requirements);
      if (offering != nullptr) {
        claim.price = std::min(claim.price, offering->price);
      }
    }
  }
}

double total_price(const Plan& plan) {
  double sum = 0;
  for (const PlannedClaim& claim : plan.claims) {
    sum += claim.price;
  }
  return sum;
}

}  // namespace millwright::peer
