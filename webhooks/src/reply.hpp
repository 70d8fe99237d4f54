// AdmissionReview replies.
#pragma once

#include "millwright/schema/schema.hpp"
#include "millwright/webhooks/admission.hpp"
#include "webhooks/src/review.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <vector>

namespace millwright::webhooks {

HttpReply allow(const Review& review, const std::vector<std::string>& warnings = {});
// An empty patch is left out: there is nothing to change.
HttpReply allow_with_patch(const Review& review, const boost::json::value& patch);
// Status 422, reason Invalid: every problem in one message and as causes.
HttpReply deny(const Review& review, const std::vector<schema::Problem>& problems,
               const std::vector<std::string>& warnings);
// HTTP 400 with a Status object: this was no review that could be answered.
HttpReply bad_request(const std::string& message);

}  // namespace millwright::webhooks
