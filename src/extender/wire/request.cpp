#include "extender/wire/request.hpp"

#include "extender/wire/scanner.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/volume_claims.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <tuple>

namespace millwright::extender {
namespace {

using base::ErrorKind;

// More nodes than any cluster has. A name may be three bytes of text, and costs forty in memory.
constexpr std::size_t kMostCandidates = 50'000;
// What Kubernetes allows names to have; uids and versions are far shorter.
constexpr std::size_t kMostLetters = 253;
constexpr std::size_t kMostResources = 64;

class RequestReader {
 public:
  explicit RequestReader(std::string_view body) : scan_(body) {}

  base::Result<Request> read() {
    const bool read = scan_.object([this](const Scanner::Text& key) { return field(key); });
    if (!read || !scan_.end()) {
      return tl::unexpected(scan_.error());
    }
    if (request_.pod.empty() || request_.pod.front() != '{') {
      return base::fail(ErrorKind::Invalid, "Pod is missing");
    }
    if (!has_names_ && !has_nodes_) {
      return base::fail(ErrorKind::Invalid, "both Nodes and NodeNames are missing");
    }
    // Never both from kube-scheduler; names are what it asked for if it should happen.
    request_.full_nodes = !has_names_;
    request_.candidates = std::move(has_names_ ? names_ : nodes_);
    return std::move(request_);
  }

 private:
  bool field(const Scanner::Text& key) {
    std::string_view ignored;
    if (same_field_name(key.between_quotes(), "Pod")) {
      return scan_.skip(request_.pod);
    }
    if (same_field_name(key.between_quotes(), "NodeNames")) {
      names_.clear();
      has_names_ = !scan_.null();
      return !has_names_ || scan_.array([this] { return name(); });
    }
    if (same_field_name(key.between_quotes(), "Nodes")) {
      nodes_.clear();
      has_nodes_ = !scan_.null();
      return !has_nodes_ || node_list();
    }
    return scan_.skip(ignored);
  }

  bool name() {
    Scanner::Text text;
    return scan_.text(text) && add(names_, {name_of(text), text.token});
  }

  bool add(std::vector<Candidate>& candidates, Candidate candidate) {
    if (candidates.size() == kMostCandidates) {
      return scan_.fail("more than 50,000 nodes");
    }
    candidates.push_back(candidate);
    return true;
  }

  bool node_list() {
    return scan_.object([this](const Scanner::Text& key) {
      std::string_view ignored;
      if (!same_field_name(key.between_quotes(), "items")) {
        return scan_.skip(ignored);
      }
      nodes_.clear();
      return scan_.null() || scan_.array([this] { return node(); });
    });
  }

  bool node() {
    const std::size_t start = scan_.next();
    std::string_view name;
    const bool read = scan_.object([&](const Scanner::Text& key) {
      std::string_view ignored;
      return same_field_name(key.between_quotes(), "metadata") ? metadata(name)
                                                               : scan_.skip(ignored);
    });
    if (!read || name.empty()) {
      return scan_.fail("a Node without metadata.name ends");
    }
    return add(nodes_, {name, scan_.since(start)});
  }

  bool metadata(std::string_view& name) {
    return scan_.object([&](const Scanner::Text& key) {
      std::string_view ignored;
      if (!same_field_name(key.between_quotes(), "name")) {
        return scan_.skip(ignored);
      }
      Scanner::Text text;
      if (!scan_.text(text)) {
        return false;
      }
      name = name_of(text);
      return true;
    });
  }

  std::string_view name_of(const Scanner::Text& text) {
    if (!text.escaped) {
      return text.between_quotes();
    }
    RequestMemory memory;
    const auto parsed = parse_request(text.token, memory);
    request_.unescaped.emplace_back();
    if (parsed && parsed->is_string()) {
      request_.unescaped.back().assign(parsed->get_string().data(), parsed->get_string().size());
    }
    return request_.unescaped.back();
  }

  Scanner scan_;
  Request request_;
  std::vector<Candidate> names_;
  std::vector<Candidate> nodes_;
  bool has_names_ = false;
  bool has_nodes_ = false;
};

// A claim that is not known is not bound either.
bool is_bound(const scheduling::Snapshot& snapshot, std::string_view name_space,
              std::string_view name) {
  const auto& claims = snapshot.volume_claims;
  const auto key = std::tie(name, name_space);
  const auto at = std::partition_point(claims.begin(), claims.end(), [&key](const auto& claim) {
    return std::tuple<std::string_view, std::string_view>(claim->meta.name,
                                                          claim->meta.namespace_) < key;
  });
  return at != claims.end() && (*at)->meta.name == name && (*at)->meta.namespace_ == name_space &&
         (*at)->phase == "Bound" && !(*at)->volume_name.empty();
}

bool awaits_volumes(const model::Pod& pod, const scheduling::Snapshot& snapshot) {
  const auto& volumes = pod.spec.volumes;
  return std::any_of(volumes.begin(), volumes.end(), [&](const model::PodVolume& volume) {
    const auto claim = model::volume_claim(pod, volume);
    return !claim.name.empty() && !is_bound(snapshot, claim.namespace_, claim.name);
  });
}

PodFacts::Annotation provision_first(const model::Pod& pod, const scheduling::Snapshot& snapshot) {
  constexpr std::string_view kKey = model::kProvisionInsteadOfPreemptAnnotation;
  if (const std::string& own = pod.meta.annotation(kKey); !own.empty()) {
    return {own, "Pod " + model::key_of(pod.meta).to_string()};
  }
  const auto& classes = snapshot.priority_classes;
  const std::string& name = pod.spec.priority_class_name;
  const auto at = std::partition_point(
      classes.begin(), classes.end(), [&name](const auto& each) { return each->meta.name < name; });
  if (at == classes.end() || (*at)->meta.name != name) {
    return {};
  }
  return {(*at)->meta.annotation(kKey), "PriorityClass " + name};
}

PodFacts facts_of(const model::Pod& pod, const scheduling::Snapshot& snapshot) {
  return PodFacts{.uid = pod.meta.uid,
                  .key = model::key_of(pod.meta),
                  .priority = pod.spec.priority,
                  .requests = scheduling::effective_requests(pod),
                  .is_daemon = model::is_owned_by_daemonset(pod),
                  .group = scheduling::group_of(pod),
                  .awaits_volumes = awaits_volumes(pod, snapshot),
                  .created = pod.meta.creation_timestamp,
                  .is_nominated = !pod.status.nominated_node_name.empty(),
                  .provision_first = provision_first(pod, snapshot)};
}

// What is noted of a pod in flight is bounded in number, and so it must be in size.
base::Result<> check_size(const PodFacts& facts) {
  const std::pair<std::string_view, std::size_t> sizes[] = {
      {"metadata.name", facts.key.name.size()},
      {"metadata.namespace", facts.key.namespace_.size()},
      {"metadata.uid", facts.uid.size()},
      {"metadata.resourceVersion", facts.version.size()},
      {"metadata.ownerReferences.uid", facts.group.owner_uid().size()}};
  for (const auto& [field, size] : sizes) {
    if (size > kMostLetters) {
      return base::fail(ErrorKind::Invalid,
                        "Pod has a " + std::string(field) + " of more than 253 characters");
    }
  }
  if (facts.requests.size() > kMostResources) {
    return base::fail(ErrorKind::Invalid, "Pod requests more than 64 resources");
  }
  return {};
}

const model::Pod* find_pending(const scheduling::Snapshot& snapshot, const model::ObjectKey& key,
                               std::string_view uid) {
  const auto& pods = snapshot.pending_pods;
  const auto at =
      std::partition_point(pods.begin(), pods.end(), [&key](const scheduling::PodPtr& pod) {
        return std::tie(pod->meta.name, pod->meta.namespace_) < std::tie(key.name, key.namespace_);
      });
  const bool found = at != pods.end() && (*at)->meta.name == key.name &&
                     (*at)->meta.namespace_ == key.namespace_ && (*at)->meta.uid == uid;
  return found ? at->get() : nullptr;
}

// kube-scheduler does not try a gated pod. It may have heard before us that the gates are gone.
Shown shown_as(const model::Pod& pod, std::string_view version) {
  if (pod.spec.scheduling_gates.empty()) {
    return Shown::Waiting;
  }
  cluster::Pass asked;
  asked.pod_version = version;
  const bool is_newer = version != pod.meta.resource_version && !asked.is_before(pod);
  return is_newer ? Shown::NotYet : Shown::Otherwise;
}

}  // namespace

const model::Pod* find_waiting(const scheduling::Snapshot& snapshot, const model::ObjectKey& key,
                               std::string_view uid) {
  const model::Pod* const pod = find_pending(snapshot, key, uid);
  return pod != nullptr && pod->spec.scheduling_gates.empty() ? pod : nullptr;
}

base::Result<Request> read_request(std::string_view body) {
  return RequestReader(body).read();
}

base::Result<PodFacts> read_pod(const boost::json::value& pod,
                                const scheduling::Snapshot& snapshot) {
  const model::ObjectKey key{std::string(model::text_at(pod, "metadata.namespace")),
                             std::string(model::text_at(pod, "metadata.name"))};
  const std::string_view uid = model::text_at(pod, "metadata.uid");
  if (key.name.empty() || uid.empty()) {
    return base::fail(ErrorKind::Invalid, "Pod has no metadata.name or no metadata.uid");
  }
  const std::string_view version = model::text_at(pod, "metadata.resourceVersion");
  PodFacts facts;
  if (const model::Pod* const known = find_pending(snapshot, key, uid)) {
    facts = facts_of(*known, snapshot);
    facts.shown = shown_as(*known, version);
  } else {
    auto decoded = model::decode<model::Pod>(pod);
    if (!decoded) {
      return base::with_context("Pod", decoded.error());
    }
    facts = facts_of(*decoded, snapshot);
  }
  facts.version = version;
  if (auto checked = check_size(facts); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  return facts;
}

base::Result<PodFacts> read_pod(std::string_view pod, const scheduling::Snapshot& snapshot) {
  RequestMemory memory;
  auto json = parse_request(pod, memory);
  if (!json) {
    return base::with_context("Pod", json.error());
  }
  return read_pod(*json, snapshot);
}

}  // namespace millwright::extender
