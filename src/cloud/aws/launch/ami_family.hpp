// The differences between the operating system families of EKS images.
#pragma once

#include "cloud/aws/node_class/node_class_spec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::aws {

std::string_view to_string(Family family);  // "AL2023"
// "linux" or "windows".
std::string_view os_of(Family family);
// The value of node.kubernetes.io/windows-build; empty for Linux.
std::string_view windows_build(Family family);
// The device whose volume holds pods' files; empty for Custom.
std::string_view data_device_of(Family family);
// The block devices of a NodeClass that names none.
std::vector<BlockDevice> default_devices(Family family);

// An SSM parameter with an image id, and the requirements of nodes that the image suits.
struct AliasedImage {
  std::string parameter;
  std::vector<model::SelectorRequirement> requirements;
};
// Of "al2023@latest" for Kubernetes "1.31".
std::vector<AliasedImage> images_of_alias(Family family, std::string_view version,
                                          std::string_view kubernetes);
// Why EKS has no image of the family for that Kubernetes ("1.33"); empty when it has.
std::string unsupported_alias(Family family, std::string_view kubernetes);

}  // namespace millwright::cloud::aws
