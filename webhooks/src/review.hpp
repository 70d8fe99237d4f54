// AdmissionReview requests of admission.k8s.io/v1. Whatever the bytes, reading gives a review or an
// error.
#pragma once

#include "millwright/base/result.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace millwright::webhooks {

struct Review {
  std::string uid;
  std::string operation;  // CREATE, UPDATE, DELETE, CONNECT
  std::string sub_resource;
  std::string group;  // of the object's kind
  std::string version;
  std::string kind;
  std::string name;               // metadata.name, or metadata.generateName
  boost::json::value object;      // null on DELETE and CONNECT
  boost::json::value old_object;  // null but on UPDATE and DELETE

  std::string api_version() const;
  // True for a create or update of the object itself. Rules and defaults do not apply to deletions,
  // sub-resources, and objects being deleted, which only lose their finalizers.
  bool concerns_content() const;
};

// Invalid says what an AdmissionReview v1 must look like.
base::Result<Review> parse_review(std::string_view text);

}  // namespace millwright::webhooks
