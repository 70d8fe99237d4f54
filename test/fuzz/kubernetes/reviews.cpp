// AdmissionReviews, as API servers send them to both webhooks.
#include "fuzz/expect.hpp"
#include "unit/webhooks/small_cluster.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::webhooks {
namespace {

using fuzz::expect;

// With a pool beside the one that is admitted, for the warnings that compare them.
std::shared_ptr<const ClusterSnapshot> cluster_with_a_pool() {
  ClusterSnapshot cluster = small_cluster();
  model::NodePool pool = *model::decode<model::NodePool>(base_pool());
  pool.meta.name = "another";
  cluster.node_pools.push_back(std::make_shared<const model::NodePool>(std::move(pool)));
  return std::make_shared<const ClusterSnapshot>(std::move(cluster));
}

const Admission& admission() {
  static const Admission kAdmission([cluster = cluster_with_a_pool()] { return cluster; });
  return kAdmission;
}

// The review with another request.
template <class Change>
std::string changed(std::string_view text, Change change) {
  json::value review = *fuzz::read_json(text);
  change(review.at("request").as_object());
  return json::serialize(review);
}

// kubectl shows up to 4096 bytes of them.
void check_warnings(const HttpReply& reply) {
  const auto warnings = warnings_of(reply);
  const std::size_t size =
      std::accumulate(warnings.begin(), warnings.end(), std::size_t{0},
                      [](std::size_t sum, const std::string& each) { return sum + each.size(); });
  expect(size <= 4096);
}

// The response; nullopt when the review could not be answered and the reply says why.
std::optional<json::object> check(const HttpReply& reply, std::string_view text) {
  constexpr std::size_t kFewProblems = std::size_t{256} << 10;
  expect(reply.body.size() <= kFewProblems + 64 * text.size());
  if (reply.status != 200) {
    const auto status = fuzz::read_json(reply.body);
    expect(reply.status == 400 && status && status->at("kind").as_string() == "Status" &&
           !status->at("message").as_string().empty());
    return std::nullopt;
  }
  json::object response = response_of(reply);
  expect(!response.at("uid").as_string().empty());
  if (!response.at("allowed").as_bool()) {
    const json::value& status = response.at("status");
    expect(status.at("code").as_int64() == 422 && !status.at("message").as_string().empty() &&
           !status.at("details").at("causes").as_array().empty());
  }
  check_warnings(reply);
  return response;
}

// What has its defaults needs no more of them.
void check_defaults(std::string_view text) {
  const auto response = check(admission().mutate(text), text);
  const json::value patch = response ? patch_of(*response) : json::value(json::array());
  if (patch.as_array().empty()) {
    return;
  }
  const std::string defaulted = changed(text, [&patch](json::object& request) {
    expect(model::apply_json_patch(request.at("object"), patch).has_value());
  });
  const auto again = check(admission().mutate(defaulted), defaulted);
  expect(again && patch_of(*again).as_array().empty());
}

// Whatever is stored already, an update that leaves it as it is passes.
void check_rules(std::string_view text) {
  const auto response = check(admission().validate(text), text);
  if (!response || response->at("allowed").as_bool()) {
    return;
  }
  const std::string unchanged = changed(text, [](json::object& request) {
    const json::value object = request.at("object");
    request["operation"] = "UPDATE";
    request["oldObject"] = object;
  });
  const auto passed = check(admission().validate(unchanged), unchanged);
  expect(passed && passed->at("allowed").as_bool());
}

}  // namespace
}  // namespace millwright::webhooks

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  millwright::webhooks::check_defaults(text);
  millwright::webhooks::check_rules(text);
  return 0;
}
