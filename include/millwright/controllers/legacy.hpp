// The legacy kinds: Provisioner (karpenter.sh/v1alpha5) and AWSNodeTemplate
// (karpenter.k8s.aws/v1alpha1) become owned NodePool and EC2NodeClass objects; nothing else in the
// program knows that they exist. The mapping is Karpenter's own migration (its v1beta1 and v1
// upgrade guides), field by field.
#pragma once

#include "millwright/controllers/services.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::controllers {

struct LegacyTranslation {
  boost::json::value node_pool;
  // Absent when the Provisioner shares the class of its template.
  std::optional<boost::json::value> node_class;
  // What has no equivalent, for the object's status and for `millwright convert`.
  std::vector<std::string> notes;
};

// Invalid names the object, the field and what to write instead. `node_template` is the
// AWSNodeTemplate that providerRef names (nullptr: not there; only its name matters then).
base::Result<LegacyTranslation> translate_provisioner(const boost::json::value& provisioner,
                                                      const boost::json::value* node_template,
                                                      const LegacySettings& settings);

struct TemplateTranslation {
  boost::json::value node_class;
  std::vector<std::string> notes;
};
base::Result<TemplateTranslation> translate_node_template(const boost::json::value& node_template,
                                                          const LegacySettings& settings);

// Keeps the owned objects equal to what the legacy ones say, until `stop`. Does nothing where no
// provider serves EC2NodeClass.
base::Task<void> run_legacy_translation(Services& services, LegacySettings settings,
                                        std::stop_token stop);

}  // namespace millwright::controllers
