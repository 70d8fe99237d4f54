#include "sandbox/stories/stage.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace millwright::sandbox {
namespace {

constexpr std::string_view kClusterName = "${CLUSTER_NAME}";

std::string substituted(std::string text, const std::string& cluster_name) {
  for (auto at = text.find(kClusterName); at != std::string::npos; at = text.find(kClusterName)) {
    text.replace(at, kClusterName.size(), cluster_name);
  }
  return text;
}

base::Result<std::string> read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    return base::fail(base::ErrorKind::NotFound, "cannot read " + path);
  }
  return text.str();
}

std::string name_of(const boost::json::value& object) {
  const auto known = [&object](std::string_view path) {
    const auto text = model::text_at(object, path);
    return std::string(text.empty() ? "?" : text);
  };
  return known("kind") + " " + known("metadata.name");
}

}  // namespace

Stage::Stage(std::string story, StoryEnvironment environment, std::stop_token stop)
    : environment_(std::move(environment)),
      stop_(std::move(stop)),
      begun_(environment_.client->loop().now()),
      shared_(std::make_shared<Shared>(environment_.client->loop())) {
  report_.story = std::move(story);
  recorder().on_change([shared = shared_] {
    if (shared->finished) {
      return;
    }
    for (auto& watch : shared->watches) {
      watch.broken = watch.broken || !watch.still_holds();
    }
    shared->changed.notify();
  });
}

base::Task<bool> Stage::send(std::string what, boost::json::value object, bool create) {
  const auto* resource =
      model::find_by_kind(model::text_at(object, "apiVersion"), model::text_at(object, "kind"));
  if (resource == nullptr) {
    fail(what + ": " + name_of(object) + " is of no kind known here");
    co_return false;
  }
  if (resource->namespaced) {
    boost::json::value& ns = object.at("metadata").as_object()["namespace"];
    if (ns.is_null()) {
      ns = "default";
    }
  }
  base::Result<boost::json::value> reply;
  if (create) {
    reply = co_await client().create(*resource, object, stop_);
  } else {
    reply = co_await client().apply(*resource, object, true, stop_);
  }
  if (!reply) {
    fail(what + " is accepted; the answer was: " + reply.error().message);
  }
  co_return reply.has_value();
}

base::Task<bool> Stage::apply_text(std::string what, std::string yaml) {
  const auto documents = model::parse_yaml(substituted(yaml, environment_.cluster_name));
  if (!documents) {
    fail(what + ": " + documents.error().message);
    co_return false;
  }
  for (const auto& document : *documents) {
    const bool sent = co_await send(what, document, false);
    if (!sent) {
      co_return false;
    }
  }
  say("applied " + what);
  co_return true;
}

base::Task<bool> Stage::send_file(std::string file, bool create) {
  const auto text = read(environment_.manifests + "/" + file);
  const auto documents =
      text ? model::parse_yaml(substituted(*text, environment_.cluster_name))
           : base::Result<std::vector<boost::json::value>>(tl::unexpected(text.error()));
  if (!documents) {
    fail(file + ": " + documents.error().message);
    co_return false;
  }
  std::string names;
  for (const auto& document : *documents) {
    const bool sent = co_await send(file, document, create);
    if (!sent) {
      co_return false;
    }
    names += (names.empty() ? "" : ", ") + name_of(document);
  }
  say((create ? "created " : "applied ") + names);
  co_return true;
}

base::Task<bool> Stage::apply_file(std::string file) {
  return send_file(std::move(file), false);
}
base::Task<bool> Stage::create_file(std::string file) {
  return send_file(std::move(file), true);
}

base::Task<bool> Stage::scale(std::string deployment, int replicas) {
  const model::ObjectKey key{.namespace_ = "default", .name = deployment};
  boost::json::value patch = {{"spec", {{"replicas", replicas}}}};
  auto reply = co_await client().patch(model::kDeploymentResource, key, kube::PatchType::Merge,
                                       std::move(patch), "scale", stop_);
  if (!reply) {
    fail("deployment " + deployment + " can be scaled: " + reply.error().message);
    co_return false;
  }
  say("scaled deployment " + deployment + " to " + std::to_string(replicas));
  co_return true;
}

base::Task<bool> Stage::remove(model::Resource resource, model::ObjectKey key) {
  kube::DeleteOptions options;
  auto reply = co_await client().remove(resource, key, options, stop_);
  if (!reply) {
    fail(std::string(resource.kind) + " " + key.name + " can be deleted: " + reply.error().message);
    co_return false;
  }
  say("deleted " + std::string(resource.kind) + " " + key.name);
  co_return true;
}

base::Task<bool> Stage::wait(std::string what, std::function<bool()> seen,
                             base::Duration deadline) {
  const base::TimePoint from = now();
  while (!seen()) {
    const base::Duration left = from + deadline - now();
    if (left <= base::Duration::zero() || stop_.stop_requested()) {
      fail(what + " within " + base::format_human_duration(deadline));
      co_return false;
    }
    co_await shared_->changed.wait(stop_, left);
  }
  say(what + " (after " + base::format_human_duration(now() - from) + ")");
  co_return true;
}

base::Task<bool> Stage::wait_pool_ready(std::string name) {
  constexpr auto kDeadline = std::chrono::minutes(1);
  const base::TimePoint limit = now() + kDeadline;
  model::ObjectKey key;
  key.name = name;
  while (now() < limit && !stop_.stop_requested()) {
    auto object = co_await client().get(model::kNodePoolResource, key, stop_);
    const auto pool = object ? model::decode<model::NodePool>(*object)
                             : base::Result<model::NodePool>(tl::unexpected(object.error()));
    if (pool && model::is_true(pool->conditions, model::kReady)) {
      say("NodePool " + name + " is Ready");
      co_return true;
    }
    co_await pass(std::chrono::seconds(1));
  }
  fail("NodePool " + name + " is Ready within a minute");
  co_return false;
}

base::Task<void> Stage::wait_idle_end(std::string app, base::Duration patience, std::string rule) {
  const bool gone = co_await wait(
      "no pod is left", [this, &app] { return pods_left(app) == 0; }, std::chrono::minutes(2));
  if (!gone) {
    co_return;
  }
  const base::TimePoint empty_since = now();
  const bool empty = co_await wait(
      "no node is left", [this] { return nodes().empty(); }, std::chrono::minutes(10));
  if (!empty) {
    co_return;
  }
  const auto& all = recorder().nodes();
  const bool patient = std::all_of(all.begin(), all.end(), [&](const auto& entry) {
    const auto& node = entry.second;
    return node.disrupted && *node.disrupted - empty_since >= patience - std::chrono::seconds(1);
  });
  expect(patient, rule);
}

base::Task<bool> Stage::pass(base::Duration time) {
  return base::sleep(environment_.client->loop(), time, stop_);
}

void Stage::say(std::string text) {
  report_.steps.push_back({.time = now(), .text = std::move(text), .ok = true});
  if (environment_.on_step) {
    environment_.on_step(report_.steps.back());
  }
}

void Stage::fail(std::string expectation) {
  report_.steps.push_back({.time = now(), .text = expectation, .ok = false});
  report_.failures.push_back(std::move(expectation));
  if (environment_.on_step) {
    environment_.on_step(report_.steps.back());
  }
}

void Stage::expect(bool holds, const std::string& text) {
  if (holds) {
    say(text);
  } else {
    fail(text);
  }
}

void Stage::always(std::string text, std::function<bool()> still_holds) {
  shared_->watches.push_back({.text = std::move(text), .still_holds = std::move(still_holds)});
}

std::optional<boost::json::value> Stage::read_example(const std::string& file) const {
  const auto text = read(environment_.manifests + "/" + file);
  if (!text) {
    return std::nullopt;
  }
  const auto documents = model::parse_yaml(substituted(*text, environment_.cluster_name));
  return documents && !documents->empty() ? std::optional(documents->front()) : std::nullopt;
}

void Stage::end_watches() {
  for (const auto& watch : std::exchange(shared_->watches, {})) {
    expect(!watch.broken, watch.text);
  }
}

StoryReport Stage::finish() {
  end_watches();
  shared_->finished = true;
  report_.took = now() - begun_;
  return std::move(report_);
}

std::size_t Stage::running(const std::string& app) {
  std::size_t count = 0;
  for (const auto& [uid, pod] : recorder().pods()) {
    count += pod.last->meta.label("app") == app && pod.running && !pod.gone ? 1U : 0U;
  }
  return count;
}

std::size_t Stage::pods_left(const std::string& app) {
  std::size_t count = 0;
  for (const auto& [uid, pod] : recorder().pods()) {
    count += pod.last->meta.label("app") == app && !pod.gone ? 1U : 0U;
  }
  return count;
}

std::vector<const NodeHistory*> Stage::nodes() {
  std::vector<const NodeHistory*> present;
  for (const auto& [uid, node] : recorder().nodes()) {
    if (!node.gone) {
      present.push_back(&node);
    }
  }
  return present;
}

double Stage::vcpus() {
  double total = 0;
  for (const auto* node : nodes()) {
    total += model::get(node->last->capacity, model::kCpu).as_double();
  }
  return total;
}

std::string Stage::nodes_text() {
  std::map<std::string, int> types;
  for (const auto* node : nodes()) {
    ++types[node->last->meta.label(model::kInstanceTypeLabel)];
  }
  std::string list;
  for (const auto& [type, count] : types) {
    list += (list.empty() ? "" : ", ") + std::to_string(count) + " x " + type;
  }
  char vcpu[32];
  std::snprintf(vcpu, sizeof vcpu, "%g", vcpus());
  return list.empty() ? "no node" : list + " (" + vcpu + " vCPU)";
}

}  // namespace millwright::sandbox
