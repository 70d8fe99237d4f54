#include "controllers/decisions/decision_notes.hpp"
#include "millwright/telemetry/decision_log.hpp"

namespace millwright::controllers {
namespace {

using telemetry::Digest;

void add_object(Digest& digest, const model::ObjectMeta& meta) {
  digest.add(meta.uid);
  digest.add(meta.resource_version);
}

void add_types(Digest& digest, const scheduling::InstanceTypes& types) {
  if (types == nullptr) {
    return;
  }
  for (const auto& type : *types) {
    digest.add(type.name);
    for (const auto& offering : type.offerings) {
      digest.add(offering.price);
      digest.add(std::uint64_t{offering.available ? 1U : 0U});
    }
  }
}

void add_nodes(Digest& digest, const std::vector<scheduling::NodeRecordPtr>& nodes) {
  for (const auto& record : nodes) {
    digest.add(record->name());
    if (record->claim) {
      add_object(digest, record->claim->meta);
    }
    if (record->node) {
      add_object(digest, record->node->meta);
    }
    for (const auto& pod : record->pods) {
      digest.add(pod->meta.uid);
    }
  }
}

}  // namespace

std::string digest_of(const scheduling::Problem& problem) {
  Digest digest;
  for (const auto& option : problem.pools) {
    add_object(digest, option.pool->meta);
    add_types(digest, option.types);
    digest.add(option.node_overhead);
    digest.add(option.max_price_ratio);
  }
  add_nodes(digest, problem.nodes);
  for (const auto& pod : problem.pods) {
    add_object(digest, pod->meta);
  }
  for (const auto& kept : problem.kept) {
    digest.add(kept.target);
    digest.add(kept.pod_uid);
  }
  return digest.text();
}

std::string digest_of(const disruption::Input& input) {
  Digest digest;
  for (const auto& pool : input.snapshot->node_pools) {
    add_object(digest, pool->meta);
  }
  for (const auto& [pool, types] : input.catalog) {
    digest.add(pool);
    add_types(digest, types);
  }
  add_nodes(digest, input.snapshot->nodes);
  for (const auto& pod : input.snapshot->pending_pods) {
    add_object(digest, pod->meta);
  }
  return digest.text();
}

}  // namespace millwright::controllers
