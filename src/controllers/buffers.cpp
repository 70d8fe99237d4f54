#include "millwright/controllers/buffers.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/model/conditions.hpp"
#include "millwright/scheduling/solve.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

using BufferPtr = std::shared_ptr<const model::CapacityBuffer>;

constexpr auto kLookAgain = std::chrono::seconds(30);
constexpr auto kPlanPeriod = std::chrono::seconds(5);
// More pods than that are a slip of the pen, and would take every plan's time.
constexpr std::int64_t kMostPods = 10'000;

model::ObjectKey parse_key(std::string_view key) {
  const auto slash = key.find('/');
  return slash == std::string_view::npos
             ? model::ObjectKey{.namespace_ = {}, .name = std::string(key)}
             : model::ObjectKey{.namespace_ = std::string(key.substr(0, slash)),
                                .name = std::string(key.substr(slash + 1))};
}

BufferPtr find_buffer(const scheduling::Snapshot& snapshot, const model::ObjectKey& key) {
  const auto found =
      std::find_if(snapshot.capacity_buffers.begin(), snapshot.capacity_buffers.end(),
                   [&](const auto& buffer) { return model::key_of(buffer->meta) == key; });
  return found == snapshot.capacity_buffers.end() ? nullptr : *found;
}

const model::Resource* workload_resource(const model::CapacityBuffer::Scalable& ref) {
  if (!ref.api_group.empty() && ref.api_group != "apps") {
    return nullptr;
  }
  for (const auto* resource :
       {&model::kDeploymentResource, &model::kStatefulSetResource, &model::kReplicaSetResource}) {
    if (resource->kind == ref.kind) {
      return resource;
    }
  }
  return nullptr;
}

// True when it changed. A buffer has no condition Ready that would sum these up.
bool put_condition(std::vector<model::Condition>& conditions, model::Condition condition) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const auto& each) { return each.type == condition.type; });
  if (found == conditions.end()) {
    conditions.push_back(std::move(condition));
    return true;
  }
  if (found->status == condition.status) {
    condition.last_transition_time = found->last_transition_time;
  }
  if (*found == condition) {
    return false;
  }
  *found = std::move(condition);
  return true;
}

}  // namespace

struct Buffers::Resolved {
  std::string reason = "Resolved";  // anything else: it could not be
  std::string message;
  model::PodTemplate pod_template;
  std::int64_t template_generation = 0;
  std::optional<std::int64_t> workload_replicas;
  std::int64_t count = 0;
  bool ok() const { return reason == "Resolved"; }
};

Buffers::Buffers(Services& services, std::function<void()> plan)
    : services_(services),
      plan_(std::move(plan)),
      reconciler_(
          services.loop, "capacitybuffer",
          [this](std::string key, std::stop_token) { return reconcile(std::move(key)); },
          services.log.named("capacitybuffer"), services.metrics,
          ReconcilerOptions{.max_concurrent = 10}) {}

void Buffers::enqueue_all() {
  for (const auto& buffer : services_.state.snapshot()->capacity_buffers) {
    enqueue(model::key_of(buffer->meta));
  }
}

base::Task<void> Buffers::run(std::stop_token stop) {
  base::TaskGroup group(services_.loop);
  group.spawn(reconciler_.run(stop));
  group.spawn(ask_for_plans(stop));
  co_await group.join();
}

base::Task<void> Buffers::ask_for_plans(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool slept = co_await base::sleep(services_.loop, kPlanPeriod, stop);
    if (!slept) {
      co_return;
    }
    if (std::exchange(changed_, false)) {
      services_.buffers->ask();
    }
    if (services_.buffers->due()) {
      plan_();
    }
    enqueue_all();
  }
}

base::Task<base::Result<Requeue>> Buffers::reconcile(std::string text) {
  const auto key = parse_key(text);
  const auto buffer = find_buffer(*services_.state.snapshot(), key);
  if (!buffer || buffer->meta.is_deleting()) {
    services_.buffers->forget(key);
    co_return Requeue{};
  }
  auto outcome = co_await resolve(buffer);
  MW_CO_TRY(found, std::move(outcome));
  const auto resolved = std::make_shared<const Resolved>(std::move(found));
  BufferRoom::Buffer content;
  content.uid = buffer->meta.uid;
  content.pods = virtual_pods(*buffer, resolved->pod_template, resolved->count);
  services_.buffers->set(key, std::move(content));
  if (services_.buffers->due()) {
    plan_();
  }
  auto written = co_await write_status(buffer, resolved);
  if (!written && written.error().kind != base::ErrorKind::NotFound) {
    co_return tl::unexpected(std::move(written).error());
  }
  co_return Requeue{kLookAgain};
}

base::Task<base::Result<Buffers::Resolved>> Buffers::resolve(BufferPtr buffer) {
  Resolved resolved;
  const bool by_template = !buffer->pod_template.empty();
  if (!by_template && !buffer->scalable) {
    resolved.reason = "ResolutionFailed";
    resolved.message = "Neither spec.podTemplateRef nor spec.scalableRef is set; set one of them";
    co_return resolved;
  }
  const auto* resource =
      by_template ? &model::kPodTemplateResource : workload_resource(*buffer->scalable);
  if (resource == nullptr) {
    resolved.reason = "ResolutionFailed";
    resolved.message = "spec.scalableRef names a " + buffer->scalable->kind +
                       "; only Deployment, StatefulSet and ReplicaSet of group apps have a pod "
                       "template that can be read";
    co_return resolved;
  }
  const std::string name = by_template ? buffer->pod_template : buffer->scalable->name;
  model::ObjectKey key{.namespace_ = buffer->meta.namespace_, .name = name};
  auto reply = co_await services_.client.get(*resource, key);
  if (!reply && reply.error().kind == base::ErrorKind::NotFound) {
    resolved.reason = by_template ? "PodTemplateNotFound" : "ScalableRefNotFound";
    resolved.message = std::string(resource->kind) + " " + name + " does not exist in namespace " +
                       buffer->meta.namespace_;
    co_return resolved;
  }
  MW_CO_TRY(object, std::move(reply));
  const auto* described = model::find_path(object, by_template ? "template" : "spec.template");
  auto pod_template =
      model::decode_pod_template(described == nullptr ? json::value(json::object()) : *described);
  if (!pod_template) {
    resolved.reason = "ResolutionFailed";
    resolved.message =
        std::string(resource->kind) + " " + name + ": " + pod_template.error().message;
    co_return resolved;
  }
  resolved.pod_template = *std::move(pod_template);
  if (by_template) {
    const auto* generation = model::find_path(object, "metadata.generation");
    resolved.template_generation =
        generation != nullptr && generation->is_int64() ? generation->get_int64() : 0;
  } else {
    const auto* replicas = model::find_path(object, "spec.replicas");
    resolved.workload_replicas =
        replicas != nullptr && replicas->is_int64() ? replicas->get_int64() : 1;
  }
  model::Pod pod;
  pod.spec = resolved.pod_template.spec;
  resolved.count =
      buffer_replicas(*buffer, resolved.workload_replicas, scheduling::effective_requests(pod));
  if (resolved.count > kMostPods) {
    resolved.reason = "ResolutionFailed";
    resolved.message = "The buffer comes to " + std::to_string(resolved.count) + " pods; at most " +
                       std::to_string(kMostPods) + " are possible";
    resolved.count = 0;
  }
  co_return resolved;
}

base::Task<base::Result<>> Buffers::write_status(BufferPtr buffer,
                                                 std::shared_ptr<const Resolved> resolved) {
  using Status = model::ConditionStatus;
  auto conditions = buffer->conditions;
  const auto make = [&](std::string_view type, bool holds, std::string reason,
                        std::string message) {
    return model::Condition{.type = std::string(type),
                            .status = holds ? Status::True : Status::False,
                            .reason = std::move(reason),
                            .message = std::move(message),
                            .last_transition_time = services_.loop.now(),
                            .observed_generation = buffer->meta.generation};
  };
  bool changed = put_condition(conditions, make(model::kReadyForProvisioning, resolved->ok(),
                                                resolved->reason, resolved->message));
  const auto fit = services_.buffers->fit(model::key_of(buffer->meta), *services_.state.snapshot());
  model::Condition provisioning =
      make(model::kProvisioning, false, "RequiresNewCapacity",
           "Not all of the room is on nodes that are up; more is planned or cannot be had");
  if (!resolved->ok()) {
    provisioning = make(model::kProvisioning, false, "NotReadyForProvisioning", resolved->message);
  } else if (resolved->count == 0) {
    provisioning = make(model::kProvisioning, false, "BufferEmpty", "The buffer comes to no pods");
  } else if (fit == BufferRoom::Fit::Existing) {
    provisioning = make(model::kProvisioning, true, "FitsExistingCapacity", "");
  }
  if (!resolved->ok() || resolved->count == 0 || fit != BufferRoom::Fit::Unknown) {
    changed = put_condition(conditions, std::move(provisioning)) || changed;
  }
  json::object status;
  if (changed) {
    status["conditions"] = model::encode(conditions);
  }
  if (buffer->status_replicas != resolved->count) {
    status["replicas"] = resolved->count;
    status["provisioningStrategy"] = buffer->provisioning_strategy;
  }
  if (resolved->ok() && !buffer->pod_template.empty() &&
      (buffer->status_pod_template != buffer->pod_template ||
       buffer->pod_template_generation != resolved->template_generation)) {
    status["podTemplateRef"] = {{"name", buffer->pod_template}};
    status["podTemplateGeneration"] = resolved->template_generation;
  }
  if (status.empty()) {
    co_return base::Result<>{};
  }
  json::object patch{{"status", std::move(status)}};
  auto reply =
      co_await services_.client.patch(model::kCapacityBufferResource, model::key_of(buffer->meta),
                                      kube::PatchType::Merge, std::move(patch), "status");
  MW_CO_TRY(object, std::move(reply));
  MW_CO_TRY(updated, model::decode<model::CapacityBuffer>(object));
  services_.state.upsert(std::make_shared<const model::CapacityBuffer>(std::move(updated)));
  co_return base::Result<>{};
}

}  // namespace millwright::controllers
