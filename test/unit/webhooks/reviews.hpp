// AdmissionReviews to ask with, and their answers read back.
#pragma once

#include "millwright/base/base64.hpp"
#include "millwright/webhooks/admission.hpp"
#include "unit/schema/admission_cases.hpp"

#include <boost/json.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millwright::webhooks {

inline json::object request_for(const std::string& operation, const json::value& object,
                                const json::value& old = nullptr) {
  const json::object& present = (object.is_object() ? object : old).as_object();
  const std::string api_version = test::text_or(present, "apiVersion");
  const std::size_t slash = api_version.find('/');
  return {{"uid", "705ab4f5-6393-11e8-b7cc-42010a800002"},
          {"operation", operation},
          {"kind",
           {{"group", api_version.substr(0, slash)},
            {"version", api_version.substr(slash + 1)},
            {"kind", present.at("kind")}}},
          {"object", object},
          {"oldObject", old},
          {"dryRun", false}};
}

inline std::string review_text(const json::object& request) {
  return json::serialize(json::value{
      {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}});
}

inline std::string creation(const json::value& object) {
  return review_text(request_for("CREATE", object));
}
inline std::string update(const json::value& object, const json::value& old) {
  return review_text(request_for("UPDATE", object, old));
}

// The response of a reply that must be an AdmissionReview.
inline json::object response_of(const HttpReply& reply) {
  const json::value review = json::parse(reply.body);
  if (reply.status != 200 || review.at("apiVersion").as_string() != "admission.k8s.io/v1" ||
      review.at("kind").as_string() != "AdmissionReview") {
    throw std::runtime_error("not an AdmissionReview: " + reply.body);
  }
  return review.at("response").as_object();
}

inline std::vector<std::string> warnings_of(const HttpReply& reply) {
  const json::object response = response_of(reply);
  const json::value* warnings = response.if_contains("warnings");
  return warnings == nullptr ? std::vector<std::string>()
                             : json::value_to<std::vector<std::string>>(*warnings);
}

inline json::value patch_of(const json::object& response) {
  const json::value* patch = response.if_contains("patch");
  return patch == nullptr ? json::value(json::array())
                          : json::parse(*base::decode_base64(json::value_to<std::string>(*patch)));
}

inline Admission blind_admission() {
  return Admission([] { return nullptr; });
}

}  // namespace millwright::webhooks
