#include "webhooks/src/review.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <utility>

namespace millwright::webhooks {
namespace {

namespace json = boost::json;
using model::text_at;

// Two versions of an object of 1.5 MiB, the most that etcd keeps, have fewer.
constexpr std::size_t kMostReviewValues = 500'000;
constexpr std::string_view kReviewVersion = "admission.k8s.io/v1";
constexpr std::string_view kOperations[] = {"CREATE", "UPDATE", "DELETE", "CONNECT"};

auto refuse(std::string message) {
  return base::fail(base::ErrorKind::Invalid, std::move(message));
}

json::value take(json::object& request, std::string_view name) {
  json::value* found = request.if_contains(name);
  return found == nullptr ? json::value() : std::move(*found);
}

std::string name_of(const json::value& object, std::string requested) {
  if (!requested.empty()) {
    return requested;
  }
  const std::string_view name = text_at(object, "metadata.name");
  return std::string(name.empty() ? text_at(object, "metadata.generateName") : name);
}

base::Result<> check_objects(const Review& review) {
  const bool writes = review.operation == "CREATE" || review.operation == "UPDATE";
  if (writes && !review.object.is_object()) {
    return refuse(
        "request.object: expected the object to be admitted, since request.operation is " +
        review.operation);
  }
  if (!review.object.is_null() && !review.object.is_object()) {
    return refuse("request.object: expected an object or null");
  }
  if (!review.old_object.is_null() && !review.old_object.is_object()) {
    return refuse("request.oldObject: expected an object or null");
  }
  return {};
}

// Moves the objects out of the request.
base::Result<Review> read_request(json::value& whole) {
  json::object& request = whole.get_object();
  Review review;
  review.uid = text_at(whole, "uid");
  if (review.uid.empty()) {
    return refuse("request.uid: expected the request's identifier");
  }
  review.operation = text_at(whole, "operation");
  if (std::find(std::begin(kOperations), std::end(kOperations), review.operation) ==
      std::end(kOperations)) {
    return refuse("request.operation: expected CREATE, UPDATE, DELETE or CONNECT, found \"" +
                  review.operation + "\"");
  }
  review.group = text_at(whole, "kind.group");
  review.version = text_at(whole, "kind.version");
  review.kind = text_at(whole, "kind.kind");
  if (review.version.empty() || review.kind.empty()) {
    return refuse("request.kind: expected group, version and kind of the object");
  }
  review.sub_resource = text_at(whole, "subResource");
  review.object = take(request, "object");
  review.old_object = take(request, "oldObject");
  if (const auto checked = check_objects(review); !checked) {
    return tl::unexpected(checked.error());
  }
  review.name = name_of(review.object, std::string(text_at(whole, "name")));
  return review;
}

}  // namespace

std::string Review::api_version() const {
  return group.empty() ? version : group + "/" + version;
}

bool Review::concerns_content() const {
  const bool writes = operation == "CREATE" || operation == "UPDATE";
  const json::value* deleted = model::find_path(object, "metadata.deletionTimestamp");
  return writes && sub_resource.empty() && (deleted == nullptr || deleted->is_null());
}

base::Result<Review> parse_review(std::string_view text_of_review) {
  if (model::has_more_values(text_of_review, kMostReviewValues)) {
    return refuse("the body holds more than 500,000 JSON values");
  }
  auto parsed = model::parse_json(text_of_review);
  if (!parsed) {
    return refuse("the body is not JSON: " + parsed.error().message);
  }
  if (!parsed->is_object()) {
    return refuse("the body is not an AdmissionReview: expected a JSON object");
  }
  if (text_at(*parsed, "kind") != "AdmissionReview") {
    return refuse("kind: expected \"AdmissionReview\", found \"" +
                  std::string(text_at(*parsed, "kind")) + "\"");
  }
  if (text_at(*parsed, "apiVersion") != kReviewVersion) {
    return refuse("apiVersion: expected \"" + std::string(kReviewVersion) + "\", found \"" +
                  std::string(text_at(*parsed, "apiVersion")) +
                  "\"; set admissionReviewVersions to [\"v1\"] in the webhook configuration");
  }
  json::value* request = parsed->get_object().if_contains("request");
  if (request == nullptr || !request->is_object()) {
    return refuse("request: expected an object; a review without a request asks nothing");
  }
  return read_request(*request);
}

}  // namespace millwright::webhooks
