// Translates the legacy kinds Provisioner (karpenter.sh/v1alpha5) and AWSNodeTemplate
// (karpenter.k8s.aws/v1alpha1) into NodePool and EC2NodeClass objects that they own. Nothing else
// in the program knows that they exist. The mapping follows Karpenter's migration guides (v1beta1,
// v1) field by field.
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
  // What has no equivalent, for events and for `millwright convert`.
  std::vector<std::string> notes;
  // Likewise, where nodes will be other than the object says.
  std::vector<std::string> warnings = {};
};

// An error of kind Invalid names the object, the field and what to write instead. `node_template`
// is the AWSNodeTemplate that providerRef names; nullptr when it does not exist.
base::Result<LegacyTranslation> translate_provisioner(const boost::json::value& provisioner,
                                                      const boost::json::value* node_template,
                                                      const LegacySettings& settings);

struct TemplateTranslation {
  boost::json::value node_class;
  std::vector<std::string> notes;
  std::vector<std::string> warnings = {};
};
base::Result<TemplateTranslation> translate_node_template(const boost::json::value& node_template,
                                                          const LegacySettings& settings);

// Keeps the owned objects equal to the translation of the legacy ones, until `stop`. Does nothing
// when no provider serves EC2NodeClass. Asks the API server for its version, so that
// settings.kubernetes_minor need not be given, and follows an upgrade of the cluster.
base::Task<void> run_legacy_translation(Services& services, LegacySettings settings,
                                        std::stop_token stop);

}  // namespace millwright::controllers
