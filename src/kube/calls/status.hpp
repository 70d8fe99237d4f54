// What a failed answer of the API server means.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/net/http.hpp"

#include <boost/json/value.hpp>

#include <string_view>

namespace millwright::kube {

struct ApiFailure {
  base::Error error;
  // An eviction refused by a disruption budget: asking again at once cannot help.
  bool disruption_budget = false;
};

ApiFailure read_failure(const net::Response& response, std::string_view what);

// From a metav1.Status, which an ERROR event of a watch carries too.
ApiFailure read_status(const boost::json::value& status, std::string_view what);

// `text` made fit for one line of an error message: at most `limit` bytes, no control characters.
std::string excerpt(std::string_view text, std::size_t limit);

}  // namespace millwright::kube
