// A REST request taken apart: which resource, which object, which form of answer.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/net/http.hpp"
#include "sandbox/apiserver/rest/errors.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace millwright::sandbox {

// How the client wants objects written.
enum class Form : std::uint8_t { Whole, Table, PartialMetadata };

struct RestRequest {
  const ResourceInfo* info = nullptr;
  model::ObjectKey key;  // name empty: the collection; namespace empty: all or cluster-scoped
  std::string subresource;
  net::Request http;
  Form form = Form::Whole;

  bool flag(std::string_view parameter) const;  // "true" or "1", or present and empty
  std::string parameter(std::string_view name) const;
  bool dry_run() const { return parameter("dryRun") == "All"; }
};

// The 404 of an unknown path. Discovery and health paths are not REST requests: see discovery.hpp.
ApiResult<RestRequest> parse_rest(net::Request request);
// The body as JSON: JSON text, or YAML for apply patches. Empty body: null.
ApiResult<Json> parse_body(const RestRequest& request);

}  // namespace millwright::sandbox
