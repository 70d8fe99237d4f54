// A described kind, and the one function per kind that describes it.
#pragma once

#include "millwright/schema/schema.hpp"
#include "schema/engine/field.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::schema {

// What Karpenter checks in its controllers instead of in the CRD. Appends the problems.
using RuntimeCheck = void (*)(const json::value& object, std::vector<Problem>& problems);

// Immutable once described; the objects live as long as the program.
class Kind {
 public:
  model::Resource resource;
  std::string_view description;
  std::vector<std::string_view> short_names;
  std::vector<std::string_view> categories{"karpenter"};
  std::vector<PrinterColumn> columns;
  Field root;             // members spec and status; metadata is the API server's own
  bool scalable = false;  // scale subresource: spec.replicas, status.nodes
  RuntimeCheck runtime_check = nullptr;
};

namespace kinds {
Kind node_pool();
Kind node_claim();
Kind node_overlay();
Kind capacity_buffer();
Kind kwok_node_class();
Kind ec2_node_class();
Kind ecs_node_class();
Kind official_ecs_node_class();
Kind cce_node_class();
Kind provisioner();
Kind aws_node_template();
}  // namespace kinds

}  // namespace millwright::schema
