#include "millwright/model/pod_selector.hpp"
#include "model/codec/reader.hpp"

namespace millwright::model {

base::Result<PodSelector> decode_pod_selector(std::string_view kind,
                                              const boost::json::value& json) {
  std::string problem;
  const detail::Reader reader(json, problem);
  PodSelector out;
  out.kind = kind;
  detail::check_kind(reader, kind);
  detail::read_slim(reader, out.meta);
  // The two that are older than label selectors have a plain map of labels.
  if (kind == kServiceResource.kind || kind == kReplicationControllerResource.kind) {
    reader.at("spec.selector", [&out](const detail::Reader& selector) {
      detail::read(selector, out.selector.emplace().match_labels);
    });
  } else {
    reader.field("spec.selector", out.selector);
  }
  if (!problem.empty()) {
    return tl::unexpected(detail::object_error(kind, json, problem));
  }
  return out;
}

}  // namespace millwright::model
