#include "millwright/webhooks/admission.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/model/patch.hpp"
#include "millwright/schema/schema.hpp"
#include "webhooks/src/pool_annotations.hpp"
#include "webhooks/src/reply.hpp"
#include "webhooks/src/review.hpp"
#include "webhooks/src/warnings.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace millwright::webhooks {
namespace {

const schema::Kind* kind_of(const Review& review) {
  return schema::find_kind(review.api_version(), review.kind);
}

// Controllers touch metadata often; a person hears a warning when what it is about is written.
bool changes_spec(const Review& review) {
  if (!review.old_object.is_object()) {
    return true;
  }
  const boost::json::value* after = model::find_path(review.object, "spec");
  const boost::json::value* before = model::find_path(review.old_object, "spec");
  return (after == nullptr) != (before == nullptr) || (after != nullptr && *after != *before);
}

}  // namespace

Admission::Admission(ClusterSnapshotSource cluster) : cluster_(std::move(cluster)) {}

HttpReply Admission::mutate(std::string_view text) const {
  const auto review = parse_review(text);
  if (!review) {
    return bad_request(review.error().message);
  }
  const schema::Kind* kind = kind_of(*review);
  if (kind == nullptr || !review->concerns_content()) {
    return allow(*review);
  }
  boost::json::value defaulted = review->object;
  if (!schema::apply_defaults(*kind, defaulted)) {
    return allow(*review);
  }
  return allow_with_patch(*review, model::json_patch_between(review->object, defaulted));
}

HttpReply Admission::validate(std::string_view text) const {
  const auto review = parse_review(text);
  if (!review) {
    return bad_request(review.error().message);
  }
  const schema::Kind* kind = kind_of(*review);
  if (kind == nullptr || !review->concerns_content()) {
    return allow(*review);
  }
  const boost::json::value* old = review->old_object.is_object() ? &review->old_object : nullptr;
  const bool is_pool = schema::resource_of(*kind) == model::kNodePoolResource;
  auto problems = schema::validate(*kind, review->object, old);
  if (is_pool) {
    auto more = annotation_problems(*review);
    std::move(more.begin(), more.end(), std::back_inserter(problems));
  }
  std::vector<std::string> warnings;
  if (changes_spec(*review) || (is_pool && changes_annotations(*review))) {
    const std::shared_ptr<const ClusterSnapshot> cluster = cluster_ ? cluster_() : nullptr;
    warnings =
        warnings_about(schema::resource_of(*kind), review->object, old != nullptr, cluster.get());
  }
  return problems.empty() ? allow(*review, warnings) : deny(*review, problems, warnings);
}

}  // namespace millwright::webhooks
