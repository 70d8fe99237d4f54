// ExtenderArgs: the pod in question and the nodes that passed the in-tree filters.
#pragma once

#include "extender/wire/json_fields.hpp"
#include "millwright/extender/extender.hpp"

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::extender {

struct Candidate {
  std::string_view name;
  std::string_view raw;  // as sent: the quoted name, or the whole Node object
};

// Views into the request's text, which must outlive it.
struct Request {
  std::string_view pod;     // a JSON object
  bool full_nodes = false;  // nodeCacheCapable is off: Nodes instead of NodeNames
  std::vector<Candidate> candidates;
  std::deque<std::string> unescaped;  // names that cannot be viewed in the text
};

// Invalid when the text is not such a request.
base::Result<Request> read_request(std::string_view body);

// From the snapshot when it knows this very pod, else from the object itself: PodFacts::shown says
// which.
base::Result<PodFacts> read_pod(std::string_view pod, const scheduling::Snapshot& snapshot);
base::Result<PodFacts> read_pod(const boost::json::value& pod,
                                const scheduling::Snapshot& snapshot);

}  // namespace millwright::extender
