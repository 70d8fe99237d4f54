// What a recording keeps of an object. Fields are kept by name: what planning does not read
// (commands, environment, images, probes, other annotations, managedFields) is not written, and
// what a later version of Kubernetes adds is not either. Pure.
#pragma once

#include "app/recording/name_hash.hpp"
#include "millwright/model/kinds.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>

namespace millwright::app {

// On the pod templates of a recording: a keyed digest of the whole template, so that a rollout is
// seen though what changed is not written.
inline constexpr std::string_view kTemplateDigestAnnotation =
    "recording.millwright.io/template-digest";

class Redaction {
 public:
  // `digests` makes the digests of templates. `names`: absent, names stay as they are.
  Redaction(NameHash digests, std::optional<NameHash> names)
      : digests_(std::move(digests)), names_(std::move(names)) {}

  bool hides_names() const { return names_.has_value(); }
  // `object` is of kind `resource`, one of planned_kinds().
  boost::json::value redacted(const model::Resource& resource,
                              const boost::json::value& object) const;
  // A name as redacted objects have it.
  std::string name(const std::string& name) const {
    return names_ ? names_->unless_common(name) : name;
  }

 private:
  NameHash digests_;
  std::optional<NameHash> names_;
};

}  // namespace millwright::app
