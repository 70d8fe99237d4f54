#include "plane/suite/replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace millwright::plane {
namespace {

constexpr auto kAlike = seconds(5);

bool leads(Controller& replica) {
  if (!replica.process().running()) {
    return false;
  }
  const std::string log = replica.process().log_text();
  const auto began = log.rfind("controller: leading");
  const auto ended = log.rfind("controller: no longer leading");
  return began != std::string::npos && (ended == std::string::npos || ended < began);
}

}  // namespace

base::Result<std::unique_ptr<Replicas>> Replicas::start(
    std::vector<std::string> cloud_flags, std::map<std::string, std::string> environment) {
  auto replicas = std::make_unique<Replicas>();
  replicas->environment_ = std::move(environment);
  MW_TRY(plane, Plane::start());
  replicas->plane_ = std::move(plane);
  auto done = replicas->plane_->start_controller_manager();
  done = done ? replicas->plane_->start_kwok() : done;
  done = done ? apply_crds(*replicas->plane_) : done;
  if (!done) {
    return tl::unexpected(done.error());
  }
  MW_TRY(cloud, CloudProcess::start(*replicas->plane_, std::move(cloud_flags)));
  replicas->cloud_ = std::move(cloud);
  replicas->apply(kwok_node_class());
  done = replicas->revive();
  if (!done) {
    return tl::unexpected(done.error());
  }
  return replicas;
}

base::Result<> Replicas::revive() {
  std::erase_if(replicas_, [](const auto& replica) { return !replica->process().running(); });
  if (replicas_.size() == 2) {
    return {};
  }
  while (replicas_.size() < 2) {
    MW_TRY(replica, Controller::start(*plane_, {.name = fmt::format("replica-{}", ++started_),
                                                .clouds = "kwok",
                                                .flags = {},
                                                .kubeconfig = {},
                                                .cloud_url = cloud_->url(),
                                                .environment = environment_}));
    replicas_.push_back(std::move(replica));
  }
  json::array extenders;
  for (const auto& replica : replicas_) {
    extenders.push_back(json::parse(replica->extender()).at(0));
  }
  plane_->stop("kube-scheduler");
  auto scheduling = plane_->start_scheduler(json::serialize(extenders));
  if (scheduling && !wait_until(kSettled, [this] { return leader() != nullptr; })) {
    return base::fail(base::ErrorKind::Timeout, "no replica leads");
  }
  return scheduling;
}

Controller* Replicas::leader() {
  const auto found = std::find_if(replicas_.begin(), replicas_.end(),
                                  [](const auto& replica) { return leads(*replica); });
  return found == replicas_.end() ? nullptr : found->get();
}

Controller* Replicas::follower() {
  const auto found = std::find_if(replicas_.begin(), replicas_.end(), [](const auto& replica) {
    return replica->process().running() && !leads(*replica);
  });
  return found == replicas_.end() ? nullptr : found->get();
}

void Replicas::kill_leader(const std::function<void()>& meanwhile) {
  auto* const old = leader();
  auto* const heir = follower();
  ASSERT_NE(old, nullptr);
  ASSERT_NE(heir, nullptr);
  old->process().kill();
  const auto killed = std::chrono::steady_clock::now();
  if (meanwhile) {
    meanwhile();
  }
  EXPECT_FALSE(leads(*heir));
  wait("the other replica leads", seconds(60), [&] { return leads(*heir); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - killed;
  std::printf("the follower leads %.1f s after the leader died\n", took.count());
  EXPECT_LE(took, kTakeOver);
}

std::string Replicas::filter_answer(const json::value& pod, const std::string& node) {
  const json::object arguments{
      {"Pod", pod}, {"Nodes", nullptr}, {"NodeNames", json::array{json::string(node)}}};
  std::set<std::string> answers;
  // A replica hears of what the other one decided over its watches: a moment later.
  wait_until(kAlike, [&] {
    answers.clear();
    for (const auto& replica : replicas_) {
      if (replica->process().running()) {
        answers.insert(replica->ask_extender("filter", arguments).value_or("no answer"));
      }
    }
    return answers.size() == 1;
  });
  EXPECT_EQ(answers.size(), 1U) << "the replicas say " << testing::PrintToString(answers);
  return answers.empty() ? "" : *answers.begin();
}

std::vector<json::value> Replicas::of(std::string_view path, const std::string& pool) {
  return plane_->list(std::string(path) + "?labelSelector=karpenter.sh%2Fnodepool%3D" + pool);
}

std::vector<json::value> Replicas::pods(const std::string& app) {
  return plane_->list(std::string(kPods) + "?labelSelector=app%3D" + app);
}

std::size_t Replicas::running(const std::string& app) {
  const auto all = pods(app);
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const auto& pod) {
    return text_at(pod, "/status/phase") == "Running" &&
           text_at(pod, "/metadata/deletionTimestamp").empty();
  }));
}

std::multiset<std::string> Replicas::instances(const std::string& pool) {
  std::multiset<std::string> ids;
  for (const auto& instance : cloud_->instances()) {
    if (text_at(instance, "/nodePool") == pool) {
      ids.insert(text_at(instance, "/providerID"));
    }
  }
  return ids;
}

bool Replicas::any_closed(const std::string& pool) {
  return json::serialize(json::value_from(of(kNodes, pool))).find("karpenter.sh/disrupted") !=
         std::string::npos;
}

void Replicas::apply(const std::string& yaml) {
  const Output output = plane_->kubectl({"apply", "-f", "-"}, yaml);
  EXPECT_EQ(output.exit_code, 0) << output.text;
}

void Replicas::wait(const std::string& what, seconds limit, const std::function<bool()>& seen) {
  if (!wait_until(limit, seen)) {
    std::string said;
    for (const auto& replica : replicas_) {
      said += replica->process().log_tail(15) + "---\n";
    }
    FAIL() << "not within " << limit.count() << " s: " << what << "\n"
           << said << plane_->kubectl({"get", "nodeclaims,nodes,pods", "-o", "wide"}).text;
  }
}

void Replicas::wait_settled(const std::string& name, std::size_t pods) {
  wait(fmt::format("{} pods of {} run, with as many claims as instances as nodes", pods, name),
       kSettled, [&] {
         const auto nodes = of(kNodes, name);
         std::multiset<std::string> claimed;
         for (const auto& claim : of(kClaims, name)) {
           claimed.insert(text_at(claim, "/status/providerID"));
         }
         return running(name) == pods && !nodes.empty() && nodes.size() == claimed.size() &&
                claimed == instances(name) && !any_closed(name);
       });
}

void Replicas::clean_up(const std::string& name) {
  plane_->kubectl({"delete", "deployment", name, "--ignore-not-found", "--wait=false"});
  plane_->kubectl({"delete", "nodepool", name, "--ignore-not-found", "--wait=false"});
  wait("nothing of " + name + " is left", kSettled, [&] {
    return of(kNodes, name).empty() && of(kClaims, name).empty() && instances(name).empty();
  });
}

}  // namespace millwright::plane
