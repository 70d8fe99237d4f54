// Callers of the extender that are no kube-scheduler, and kubelets that are broken or lie.
#include "millwright/model/codec.hpp"
#include "simulate/world/world.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::test {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kBetweenCalls = milliseconds(400);

bool is_of_karpenter(std::string_view label) {
  return label.starts_with("karpenter.");
}

bool is_registered(const json::value& node) {
  const auto* labels = model::find_path(node, "metadata.labels");
  return labels != nullptr && labels->is_object() &&
         labels->get_object().contains(model::kRegisteredLabel);
}

void set_ready(json::value& node, const char* status) {
  for (auto& condition : node.at("status").at("conditions").as_array()) {
    if (model::text_at(condition, "type") == "Ready") {
      condition.as_object()["status"] = status;
    }
  }
}

}  // namespace

void SimulatedWorld::call_as_nobody(base::TimePoint until) {
  Replica* const target = chosen(static_cast<int>(hostile_random_.below(100)));
  if (target != nullptr && !target->paused() && target->leadership().holds()) {
    const auto& extender = target->engine().extender();
    const std::string body = hostile_body();
    switch (hostile_random_.below(4)) {
      case 0:
        static_cast<void>(extender.prioritize(body));
        break;
      case 1:
        static_cast<void>(extender.preempt(body));
        break;
      default:
        static_cast<void>(extender.filter(body));
    }
  }
  if (now() + kBetweenCalls < until) {
    loop_.after(kBetweenCalls, [this, until] { call_as_nobody(until); });
  }
}

std::string SimulatedWorld::hostile_body() {
  auto& random = hostile_random_;
  json::array names;
  for (const auto& node : world_->api().list(model::kNodeResource)) {
    names.emplace_back(model::text_at(*node, "metadata.name"));
  }
  json::value pod = nullptr;
  if (const auto pods = world_->api().list(model::kPodResource); !pods.empty()) {
    pod = *pods.at(random.below(pods.size()));
  }
  const auto shape = random.below(6);
  if (shape == 0) {
    std::string garbage(random.below(300), ' ');
    std::generate(garbage.begin(), garbage.end(),
                  [&random] { return static_cast<char>(random.below(256)); });
    return garbage;
  }
  if (shape == 1 && pod.is_object()) {  // of nobody, and larger than any machine
    auto& meta = pod.at("metadata").as_object();
    meta["uid"] = random.uuid();
    meta["name"] = "nobody";
    for (auto& container : pod.at("spec").at("containers").as_array()) {
      container.as_object()["resources"] =
          json::object{{"requests", json::object{{"cpu", "999999999999"}, {"memory", "-5"}}}};
    }
  }
  if (shape == 2) {
    for (int i = 0; i < 500; ++i) {
      names.emplace_back(fmt::format("unknown-{}", i));
    }
  }
  if (shape == 3) {
    const json::array once = names;
    names.insert(names.end(), once.begin(), once.end());
    for (std::size_t i = names.size(); i > 1; --i) {
      std::swap(names[i - 1], names[random.below(i)]);
    }
  }
  std::string body = json::serialize(
      json::object{{"Pod", std::move(pod)}, {"Nodes", nullptr}, {"NodeNames", std::move(names)}});
  if (shape == 4) {
    body.resize(random.below(body.size()));
  }
  return body;
}

void SimulatedWorld::break_kubelets(const Step& step) {
  if (step.act == Act::LateNodes) {
    bad_kubelets_.late = seconds(step.amount);
  } else if (step.act == Act::PoorNodes) {
    bad_kubelets_.percent = step.amount;
  } else {
    bad_kubelets_.lie_as_some = step.amount == 1;
  }
  undo_after(step.lasts, [this] { mend_kubelets(); });
}

void SimulatedWorld::register_node(json::value& node) {
  const std::string own_id(model::text_at(node, "spec.providerID"));
  if (const auto poor = poor_.find(own_id); poor != poor_.end() && !bad_kubelets_.percent) {
    node.at("status").as_object()["allocatable"] = model::encode(poor->second);  // comes mended
  }
  const auto liar = liars_.find(own_id);
  if (liar == liars_.end()) {
    return;
  }
  std::string lie = "nobody://" + liar->first;
  for (const auto& [id, machine] : machines_) {
    lie = liar->second && id != liar->first ? id : lie;
  }
  node.at("spec").as_object()["providerID"] = lie;
  lies_[std::string(model::text_at(node, "metadata.name"))] = lie;
  liars_.erase(liar);
}

// Reports are corrected. A Node cannot change its provider id: people delete it by force, and its
// kubelet registers a new one.
void SimulatedWorld::mend_kubelets() {
  bad_kubelets_ = {};
  mended_ = now();
  liars_.clear();
  for (const auto& node : world_->api().list(model::kNodeResource)) {
    const auto poor = poor_.find(std::string(model::text_at(*node, "spec.providerID")));
    if (poor != poor_.end()) {
      const auto& real = poor->second;
      edit(
          model::kNodeResource, std::string(model::text_at(*node, "metadata.name")),
          [&real](json::value& json) {
            json.at("status").as_object()["allocatable"] = model::encode(real);
          },
          "status");
    }
  }
  for (const auto& [name, lie] : lies_) {
    const auto node = world_->api().get(model::kNodeResource, {{}, name});
    if (node && model::text_at(**node, "spec.providerID") == lie) {
      edit(model::kNodeResource, name,
           [](json::value& json) { json.at("metadata").as_object().erase("finalizers"); });
      static_cast<void>(
          world_->api().remove(model::kNodeResource, {.namespace_ = {}, .name = name}));
    }
  }
  world_->restart_kubelets();
}

bool SimulatedWorld::has_lied(const std::string& node, base::TimePoint since) const {
  const auto lie = lies_.find(node);
  if (lie == lies_.end() || mended_ >= since) {
    return lie != lies_.end();
  }
  const auto now = world_->api().get(model::kNodeResource, {{}, node});
  return now && model::text_at(**now, "spec.providerID") == lie->second;
}

std::string SimulatedWorld::chosen_node(int which) {
  auto nodes = world_->api().list(model::kNodeResource);
  // Others are nobody's, and closed by their taint alone.
  std::erase_if(nodes, [](const sandbox::Object& node) { return !is_registered(*node); });
  return nodes.empty()
             ? std::string()
             : std::string(model::text_at(*nodes.at(static_cast<std::size_t>(which) % nodes.size()),
                                          "metadata.name"));
}

void SimulatedWorld::break_node(const Step& step) {
  const std::string name = chosen_node(step.which);
  if (name.empty()) {
    return;
  }
  if (step.act == Act::FlapNode) {
    const auto set = [this, name](const char* status) {
      edit(
          model::kNodeResource, name, [status](json::value& node) { set_ready(node, status); },
          "status");
    };
    set("False");
    loop_.after(step.lasts, [this, name, set] {
      const bool has_machine =
          std::any_of(machines_.begin(), machines_.end(),
                      [&](const auto& item) { return item.second.node == name; });
      if (has_machine) {
        set("True");
      }
    });
    return;
  }
  const json::value whole = **world_->api().get(model::kNodeResource, {{}, name});
  if (step.act == Act::StripNode) {
    stripped_nodes_.insert(name);
    edit(model::kNodeResource, name, [](json::value& node) {
      node.at("spec").as_object().erase("taints");
      auto& labels = node.at("metadata").at("labels").as_object();
      const json::object all = labels;
      for (const auto& [key, value] : all) {
        if (is_of_karpenter(key)) {
          labels.erase(key);
        }
      }
    });
    undo_after(step.lasts, [this, name, whole] {
      edit(model::kNodeResource, name, [&whole](json::value& node) {
        if (model::text_at(node, "metadata.uid") != model::text_at(whole, "metadata.uid")) {
          return;  // another one, that registered after etcd was restored
        }
        auto& labels = node.at("metadata").at("labels").as_object();
        for (const auto& [key, value] : whole.at("metadata").at("labels").as_object()) {
          labels.insert_or_assign(key, value);
        }
      });
    });
    return;
  }
  json::value twin = whole;
  twin.as_object()["metadata"] =
      json::object{{"name", name + "-twin"}, {"labels", whole.at("metadata").at("labels")}};
  if (world_->api().create(model::kNodeResource, std::move(twin))) {
    undo_after(step.lasts, [this, name] {
      const std::string second = name + "-twin";
      edit(model::kNodeResource, second,
           [](json::value& node) { node.at("metadata").as_object().erase("finalizers"); });
      static_cast<void>(
          world_->api().remove(model::kNodeResource, {.namespace_ = {}, .name = second}));
    });
  }
}

}  // namespace millwright::test
