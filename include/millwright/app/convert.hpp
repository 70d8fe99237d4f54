// `millwright convert`: turns the legacy kinds of a manifest into today's objects, by the mapping
// of the legacy controller (controllers/legacy/legacy.hpp), and the ECSNodeClasses of one of
// Alibaba Cloud's two groups into those of the other (cloud/alibaba_groups.hpp). Remarks name what
// has no equivalent. Pure: text in, text out.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/cloud/alibaba_groups.hpp"
#include "millwright/controllers/services.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

struct Conversion {
  // YAML documents in the order of the file. Provisioners became NodePools, AWSNodeTemplates
  // EC2NodeClasses, and ECSNodeClasses and the NodePools that name them are of the group asked for;
  // other objects are as they were. Remarks stand above each as comments.
  std::string text;
  // "Provisioner team: ..."; what a person should know.
  std::vector<std::string> notes;
  // The same form; what must be mended before the objects can be applied.
  std::vector<std::string> problems;
};

// Lists (kind List) are taken apart. A ConfigMap named karpenter-global-settings is turned into
// remarks on settings, and its default instance profile is used. Invalid when the text is no YAML.
base::Result<Conversion> convert_manifests(std::string_view yaml,
                                           controllers::LegacySettings settings,
                                           cloud::EcsGroup ecs_group = cloud::EcsGroup::Served);

}  // namespace millwright::app
