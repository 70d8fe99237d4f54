// The operations of ACK's API (CS) as typed calls. Answers that are not as documented are errors
// (Unavailable). Has no state but the Api behind it.
#pragma once

#include "cloud/alibaba/calls/api.hpp"
#include "cloud/alibaba/calls/ecs_types.hpp"

#include <string>
#include <vector>

namespace millwright::cloud::alibaba {

// How pods get their addresses.
enum class Network : std::uint8_t { Terway, Flannel, Other };

struct ClusterFacts {
  std::string version;  // "1.31.1-aliyun.1"
  Network network = Network::Other;
  std::string network_add_on;  // that gives pods their addresses: "terway-eniip"
};

// What asks for the script that joins a machine to the cluster.
struct AttachQuestion {
  std::string cluster_id;
  std::string arch;  // "amd64", "arm64"
  bool format_disk = false;
};

class Cs {
 public:
  explicit Cs(Api& api) : api_(api) {}

  base::Task<ApiResult<ClusterFacts>> cluster(std::string id);
  // Whether pods may ask Terway for a member of a node's trunk interface: ENITrunking in the
  // configuration of its add-on.
  base::Task<ApiResult<bool>> has_trunks(std::string cluster_id, std::string add_on);
  // The images that ACK's node pools may use for the Kubernetes version.
  base::Task<ApiResult<std::vector<Image>>> images(std::string kubernetes);
  // The command line that joins a machine. A secret: it has a token.
  base::Task<ApiResult<std::string>> attach_script(AttachQuestion question);

 private:
  Api& api_;
};

}  // namespace millwright::cloud::alibaba
