// AdmissionReview requests of admission.k8s.io/v1, read without trusting a byte of them.
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
  std::string name;               // metadata.name, or the prefix of a name still to be made
  boost::json::value object;      // null on DELETE and CONNECT
  boost::json::value old_object;  // null but on UPDATE and DELETE

  std::string api_version() const;
  // Rules and defaults concern only what is written to the object itself and stays: no deletion, no
  // sub-resource, no object that is on its way out and only loses its finalizers.
  bool concerns_content() const;
};

// Invalid says what an AdmissionReview v1 must look like.
base::Result<Review> parse_review(std::string_view text);

}  // namespace millwright::webhooks
