#include "cloud/huawei/calls/nodes.hpp"

#include "cloud/common/text/cloud_words.hpp"
#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using model::text_at;

constexpr int kDeepestStep = 4;  // of a job's steps

// CCE writes "2026-01-02 03:04:05.678901 +0000 UTC" beside RFC 3339.
std::optional<base::TimePoint> read_time(std::string_view text) {
  if (const auto time = base::parse_rfc3339(text)) {
    return *time;
  }
  const auto space = text.find(' ');
  const auto zone = text.find(' ', space == std::string_view::npos ? 0 : space + 1);
  if (space == std::string_view::npos ||
      !text.substr(zone == std::string_view::npos ? 0 : zone).starts_with(" +0000")) {
    return std::nullopt;
  }
  const auto iso = std::string(text.substr(0, space)) + "T" +
                   std::string(text.substr(space + 1, zone - space - 1)) + "Z";
  if (const auto time = base::parse_rfc3339(iso)) {
    return *time;
  }
  return std::nullopt;
}

// A job of several steps tells the reason at the step that failed.
std::string failure_in(const json::value& job, int depth) {
  const auto* steps = model::find_path(job, "spec.subJobs");
  if (depth < kDeepestStep && steps != nullptr && steps->is_array()) {
    for (const auto& step : steps->get_array()) {
      if (auto reason = failure_in(step, depth + 1); !reason.empty()) {
        return reason;
      }
    }
  }
  return text_at(job, "status.phase") == "Failed" ? std::string(text_at(job, "status.reason"))
                                                  : std::string();
}

ApiError odd_node(std::string_view call) {
  ApiError error;
  error.kind = ErrorKind::Unavailable;
  error.message = std::string(call).append(": the answer has no CCE node with a uid and a spec");
  return error;
}

}  // namespace

std::string CceNode::tag(std::string_view key) const {
  const auto found = tags.find(key);
  return found == tags.end() ? std::string() : found->second;
}

std::optional<CceNode> read_node(const json::value& item) {
  CceNode node;
  node.uid = text_at(item, "metadata.uid");
  const auto* spec = model::find_path(item, "spec");
  if (node.uid.empty() || spec == nullptr || !spec->is_object()) {
    return std::nullopt;
  }
  node.name = text_at(item, "metadata.name");
  node.created_at = read_time(text_at(item, "metadata.creationTimestamp"));
  node.flavor = text_at(*spec, "flavor");
  node.zone = text_at(*spec, "az");
  node.os = text_at(*spec, "os");
  node.subnet = text_at(*spec, "nodeNicSpec.primaryNic.subnetId");
  node.phase = text_at(item, "status.phase");
  node.job = text_at(item, "status.jobID");
  node.server = text_at(item, "status.serverId");
  node.private_ip = text_at(item, "status.privateIP");
  const auto* tags = model::find_path(*spec, "k8sTags");
  if (tags != nullptr && tags->is_object()) {
    for (const auto& [key, value] : tags->get_object()) {
      node.tags[std::string(key)] = model::as_text(&value);
    }
  }
  // Whether an answer repeats the market is not documented; our own tag is there in any case.
  node.spot = text_at(*spec, "extendParam.marketType") == "spot" ||
              node.tag(model::kCapacityTypeLabel) == model::kSpot;
  return node;
}

Call CceNodes::call(std::string operation, std::string_view uid) const {
  Call call;
  call.service = Service::Cce;
  call.operation = std::move(operation);
  call.path = "/api/v3/projects/{project}/clusters/" + net::url_encode(cluster_) + "/nodes";
  if (!uid.empty()) {
    call.path.append("/").append(net::url_encode(uid));
  }
  return call;
}

base::Task<ApiResult<CceNode>> CceNodes::create(json::value body) {
  auto asking = call("create node");
  asking.method = "POST";
  asking.body = std::move(body);
  asking.patience.repeatable = false;
  asking.patience.buys = true;
  asking.patience.timeout = std::chrono::seconds(60);
  MW_CO_TRY(answer, co_await api_.send(std::move(asking)));
  auto node = read_node(answer);
  if (!node) {
    co_return tl::unexpected(odd_node("cce create node"));
  }
  co_return *std::move(node);
}

base::Task<ApiResult<CceNode>> CceNodes::get(std::string uid) {
  auto asking = call("get node", uid);
  MW_CO_TRY(answer, co_await api_.send(std::move(asking)));
  auto node = read_node(answer);
  if (!node) {
    co_return tl::unexpected(odd_node("cce get node"));
  }
  co_return *std::move(node);
}

base::Task<ApiResult<std::string>> CceNodes::job_failure(std::string job) {
  Call asking;
  asking.service = Service::Cce;
  asking.operation = "get job";
  asking.path = "/api/v3/projects/{project}/jobs/" + net::url_encode(job);
  MW_CO_TRY(answer, co_await api_.send(std::move(asking)));
  co_return without_secrets(failure_in(answer, 0));
}

base::Task<ApiResult<std::vector<CceNode>>> CceNodes::list() {
  auto asking = call("list nodes");
  MW_CO_TRY(answer, co_await api_.send(std::move(asking)));
  const auto* items = model::member(answer, "items");
  // Null is how Go writes an empty list.
  if (items == nullptr || (!items->is_array() && !items->is_null())) {
    ApiError error;
    error.kind = ErrorKind::Unavailable;
    error.message = "cce list nodes: the answer has no list items";
    co_return tl::unexpected(std::move(error));
  }
  std::vector<CceNode> nodes;
  if (items->is_array()) {
    for (const auto& item : items->get_array()) {
      auto node = read_node(item);
      if (!node) {  // left out, it would count as a node that is gone
        co_return tl::unexpected(odd_node("cce list nodes"));
      }
      nodes.push_back(*std::move(node));
    }
  }
  co_return nodes;
}

base::Task<ApiResult<>> CceNodes::remove(std::string uid) {
  auto asking = call("delete node", uid);
  asking.method = "DELETE";
  MW_CO_CHECK(co_await api_.send(std::move(asking)));
  co_return ApiResult<>{};
}

}  // namespace millwright::cloud::huawei
