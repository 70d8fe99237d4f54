#include "cloud/aws/launch/ami_family.hpp"

#include <array>
#include <charconv>

namespace millwright::cloud::aws {
namespace {

using model::Operator;
using model::SelectorRequirement;

constexpr std::string_view kGpuCount = "karpenter.k8s.aws/instance-gpu-count";
constexpr std::string_view kAcceleratorCount = "karpenter.k8s.aws/instance-accelerator-count";

// What a node has to be for an image variant.
enum class Variant : std::uint8_t { Standard, Nvidia, Neuron, Gpu };

std::vector<SelectorRequirement> requirements_of(std::string_view arch, Variant variant,
                                                 std::string_view os = "linux") {
  const auto rule = [](std::string_view key, Operator op, std::vector<std::string> values = {}) {
    return SelectorRequirement{.key = std::string(key), .op = op, .values = std::move(values)};
  };
  std::vector<SelectorRequirement> result{
      rule(model::kArchLabel, Operator::In, {std::string(arch)}),
      rule(model::kOsLabel, Operator::In, {std::string(os)})};
  switch (variant) {
    case Variant::Standard:
      result.push_back(rule(kGpuCount, Operator::DoesNotExist));
      result.push_back(rule(kAcceleratorCount, Operator::DoesNotExist));
      break;
    case Variant::Nvidia:
    case Variant::Gpu:
      result.push_back(rule(kGpuCount, Operator::Exists));
      break;
    case Variant::Neuron:
      result.push_back(rule(kAcceleratorCount, Operator::Exists));
      break;
  }
  return result;
}

std::string join(std::initializer_list<std::string_view> parts) {
  std::string result;
  for (const auto part : parts) {
    result += part;
  }
  return result;
}

std::vector<AliasedImage> al2(std::string_view version, std::string_view kubernetes) {
  const auto parameter = [&](std::string_view suffix) {
    const auto image = version == "latest"
                           ? std::string("recommended")
                           : join({"amazon-eks", suffix, "-node-", kubernetes, "-", version});
    return join({"/aws/service/eks/optimized-ami/", kubernetes, "/amazon-linux-2", suffix, "/",
                 image, "/image_id"});
  };
  // The GPU image is for NVIDIA and Neuron alike.
  return {{parameter(""), requirements_of("amd64", Variant::Standard)},
          {parameter("-arm64"), requirements_of("arm64", Variant::Standard)},
          {parameter("-gpu"), requirements_of("amd64", Variant::Gpu)},
          {parameter("-gpu"), requirements_of("amd64", Variant::Neuron)}};
}

std::vector<AliasedImage> al2023(std::string_view version, std::string_view kubernetes) {
  const auto parameter = [&](std::string_view arch, std::string_view variant) {
    const auto image =
        version == "latest"
            ? std::string("recommended")
            : join({"amazon-eks-node-al2023-", arch, "-", variant, "-", kubernetes, "-", version});
    return join({"/aws/service/eks/optimized-ami/", kubernetes, "/amazon-linux-2023/", arch, "/",
                 variant, "/", image, "/image_id"});
  };
  return {{parameter("x86_64", "standard"), requirements_of("amd64", Variant::Standard)},
          {parameter("arm64", "standard"), requirements_of("arm64", Variant::Standard)},
          {parameter("x86_64", "nvidia"), requirements_of("amd64", Variant::Nvidia)},
          {parameter("arm64", "nvidia"), requirements_of("arm64", Variant::Nvidia)},
          {parameter("x86_64", "neuron"), requirements_of("amd64", Variant::Neuron)}};
}

std::vector<AliasedImage> bottlerocket(std::string_view version, std::string_view kubernetes) {
  if (version.starts_with('v')) {
    version.remove_prefix(1);
  }
  const auto parameter = [&](std::string_view arch, std::string_view suffix) {
    return join({"/aws/service/bottlerocket/aws-k8s-", kubernetes, suffix, "/", arch, "/", version,
                 "/image_id"});
  };
  return {{parameter("x86_64", ""), requirements_of("amd64", Variant::Standard)},
          {parameter("arm64", ""), requirements_of("arm64", Variant::Standard)},
          {parameter("x86_64", "-nvidia"), requirements_of("amd64", Variant::Nvidia)},
          {parameter("arm64", "-nvidia"), requirements_of("arm64", Variant::Nvidia)},
          {parameter("x86_64", ""), requirements_of("amd64", Variant::Neuron)}};
}

std::vector<AliasedImage> windows(Family family, std::string_view kubernetes) {
  const auto year = to_string(family).substr(std::string_view("Windows").size());
  auto requirements = requirements_of("amd64", Variant::Standard, "windows");
  requirements.resize(2);  // any device
  requirements.push_back({.key = std::string(model::kWindowsBuildLabel),
                          .op = Operator::In,
                          .values = {std::string(windows_build(family))}});
  return {{join({"/aws/service/ami-windows-latest/Windows_Server-", year,
                 "-English-Core-EKS_Optimized-", kubernetes, "/image_id"}),
           std::move(requirements)}};
}

BlockDevice gp3(std::string_view device, std::string_view size) {
  BlockDevice result;
  result.device_name = device;
  result.volume_size = size;
  result.volume_type = "gp3";
  result.encrypted = true;
  result.delete_on_termination = true;
  return result;
}

int minor_of(std::string_view kubernetes) {
  const auto dot = kubernetes.find('.');
  int minor = 0;
  if (dot != std::string_view::npos) {
    std::from_chars(kubernetes.data() + dot + 1, kubernetes.data() + kubernetes.size(), minor);
  }
  return minor;
}

}  // namespace

std::string_view to_string(Family family) {
  constexpr std::array<std::string_view, 7> kNames{
      "AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022", "Windows2025", "Custom"};
  return kNames[static_cast<std::size_t>(family)];
}

std::string_view os_of(Family family) {
  return is_windows(family) ? "windows" : "linux";
}

std::string_view windows_build(Family family) {
  switch (family) {
    case Family::Windows2019:
      return "10.0.17763";
    case Family::Windows2022:
      return "10.0.20348";
    case Family::Windows2025:
      return "10.0.26100";
    default:
      return "";
  }
}

std::string_view data_device_of(Family family) {
  switch (family) {
    case Family::Al2:
    case Family::Al2023:
      return "/dev/xvda";
    case Family::Bottlerocket:
      return "/dev/xvdb";
    case Family::Custom:
      return "";
    default:
      return "/dev/sda1";
  }
}

std::vector<BlockDevice> default_devices(Family family) {
  switch (family) {
    case Family::Al2:
    case Family::Al2023:
      return {gp3("/dev/xvda", "20Gi")};
    case Family::Bottlerocket:
      return {gp3("/dev/xvda", "4Gi"), gp3("/dev/xvdb", "20Gi")};
    case Family::Custom:
      return {};
    default:
      return {gp3("/dev/sda1", "50Gi")};
  }
}

std::vector<AliasedImage> images_of_alias(Family family, std::string_view version,
                                          std::string_view kubernetes) {
  switch (family) {
    case Family::Al2:
      return al2(version, kubernetes);
    case Family::Al2023:
      return al2023(version, kubernetes);
    case Family::Bottlerocket:
      return bottlerocket(version, kubernetes);
    case Family::Custom:
      return {};
    default:
      return windows(family, kubernetes);
  }
}

std::string unsupported_alias(Family family, std::string_view kubernetes) {
  const int minor = minor_of(kubernetes);
  if (family == Family::Al2 && minor >= 33) {
    return "AL2 has no images for Kubernetes 1.33 and newer; use the alias al2023@latest";
  }
  if (family == Family::Windows2025 && minor < 35) {
    return "Windows 2025 has no images before Kubernetes 1.35; use windows2022@latest";
  }
  return {};
}

}  // namespace millwright::cloud::aws
