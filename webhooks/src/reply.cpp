#include "webhooks/src/reply.hpp"

#include "millwright/base/base64.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <utility>

namespace millwright::webhooks {
namespace {

namespace json = boost::json;

HttpReply answer(json::object response) {
  json::object review{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}};
  review["response"] = std::move(response);
  return {200, json::serialize(review)};
}

json::object response_to(const Review& review, bool allowed,
                         const std::vector<std::string>& warnings) {
  json::object response{{"uid", review.uid}, {"allowed", allowed}};
  if (!warnings.empty()) {
    response["warnings"] = json::array(warnings.begin(), warnings.end());
  }
  return response;
}

// "NodePool "default" is invalid: <problem>", or one problem a line when there are several.
std::string in_words(const Review& review, const std::vector<schema::Problem>& problems) {
  std::string text = review.kind + " \"" + review.name + "\" is invalid:";
  for (const schema::Problem& problem : problems) {
    text += (problems.size() == 1 ? " " : "\n  - ") + problem.to_string();
  }
  if (problems.size() >= schema::kMostProblems) {
    text += "\n  - there may be more";
  }
  return text;
}

// kubectl prints a cause as "<field>: <message>".
json::array causes(const std::vector<schema::Problem>& problems) {
  json::array result;
  for (const schema::Problem& problem : problems) {
    result.push_back(
        {{"reason", problem.value.empty() ? "FieldValueRequired" : "FieldValueInvalid"},
         {"message", problem.to_string().substr(problem.path.size() + 2)},
         {"field", problem.path}});
  }
  return result;
}

}  // namespace

HttpReply allow(const Review& review, const std::vector<std::string>& warnings) {
  return answer(response_to(review, true, warnings));
}

HttpReply allow_with_patch(const Review& review, const json::value& patch) {
  json::object response = response_to(review, true, {});
  if (patch.is_array() && !patch.get_array().empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = base::encode_base64(json::serialize(patch));
  }
  return answer(std::move(response));
}

HttpReply deny(const Review& review, const std::vector<schema::Problem>& problems,
               const std::vector<std::string>& warnings) {
  json::object response = response_to(review, false, warnings);
  response["status"] = {{"status", "Failure"},
                        {"code", 422},
                        {"reason", "Invalid"},
                        {"message", in_words(review, problems)},
                        {"details",
                         {{"name", review.name},
                          {"group", review.group},
                          {"kind", review.kind},
                          {"causes", causes(problems)}}}};
  return answer(std::move(response));
}

HttpReply bad_request(const std::string& message) {
  const json::object status{{"apiVersion", "v1"}, {"kind", "Status"},       {"status", "Failure"},
                            {"code", 400},        {"reason", "BadRequest"}, {"message", message}};
  return {400, json::serialize(status)};
}

}  // namespace millwright::webhooks
