#include "plane/suite/replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace millwright::plane {

base::Result<std::unique_ptr<Replicas>> Replicas::start(
    std::vector<std::string> cloud_flags, std::map<std::string, std::string> environment) {
  auto replicas = std::make_unique<Replicas>();
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
  MW_TRY(set, ReplicaSet::start(*replicas->plane_, {.cloud_url = replicas->cloud_->url(),
                                                    .environment = std::move(environment)}));
  replicas->set_ = std::move(set);
  done = replicas->plane_->start_scheduler(replicas->set_->extender());
  if (!done) {
    return tl::unexpected(done.error());
  }
  return replicas;
}

Controller* Replicas::strike_leader(const std::function<void(Controller&)>& blow) {
  auto* const old = leader();
  auto* const heir = follower();
  if (old == nullptr || heir == nullptr) {
    ADD_FAILURE() << "there are no leader and follower";
    return nullptr;
  }
  blow(*old);
  const auto struck = std::chrono::steady_clock::now();
  EXPECT_FALSE(ReplicaSet::leads(*heir));
  wait("the other replica leads", seconds(60), [&] { return ReplicaSet::leads(*heir); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - struck;
  std::printf("the follower leads %.1f s after the leader was struck\n", took.count());
  EXPECT_LE(took, kTakeOver);
  wait("kube-scheduler is led to it", seconds(5), [&] { return led_to() == heir; });
  return old;
}

void Replicas::kill_leader() {
  strike_leader([](Controller& old) { old.process().kill(); });
}

std::string Replicas::filter_answer(const json::value& pod, const std::string& node) {
  const json::object arguments{
      {"Pod", pod}, {"Nodes", nullptr}, {"NodeNames", json::array{json::string(node)}}};
  auto* const asked = led_to();
  return asked == nullptr ? "nobody is there"
                          : asked->ask_extender("filter", arguments).value_or("no answer");
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
    for (const auto& replica : all()) {
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
