#include "webhooks/src/warnings.hpp"

#include "millwright/model/codec.hpp"
#include "webhooks/src/pool_annotations.hpp"

#include <utility>

namespace millwright::webhooks {
namespace {

constexpr std::size_t kMostBytesEach = 255;
constexpr std::size_t kMostBytes = 4000;  // of 4096: room for the line that counts the rest

std::string shortened(std::string text) {
  if (text.size() <= kMostBytesEach) {
    return text;
  }
  std::size_t cut = kMostBytesEach - 3;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) {
    --cut;
  }
  text.resize(cut);
  return text + "...";
}

}  // namespace

void Warnings::add(std::string text) {
  text = shortened(std::move(text));
  if (bytes_ + text.size() > kMostBytes) {
    ++left_out_;
    return;
  }
  bytes_ += text.size();
  texts_.push_back(std::move(text));
}

std::vector<std::string> Warnings::take() && {
  if (left_out_ > 0) {
    texts_.push_back("and " + std::to_string(left_out_) + " more warnings");
  }
  return std::move(texts_);
}

std::vector<std::string> warnings_about(const model::Resource& resource,
                                        const boost::json::value& object, bool is_edit,
                                        const ClusterSnapshot* cluster) {
  Warnings warnings;
  if (resource != model::kNodePoolResource) {
    warn_of_cloud_class(resource, object, warnings);
    const auto node_class = model::decode<model::NodeClass>(object);
    if (node_class && cluster != nullptr) {
      warn_of_unsupported(*node_class, *cluster, warnings);
      if (is_edit) {
        warn_of_replacements(*node_class, *cluster, warnings);
      }
    }
    return std::move(warnings).take();
  }
  const auto pool = model::decode<model::NodePool>(object);
  if (!pool) {
    return {};  // validation says what is wrong with it
  }
  if (cluster != nullptr) {
    warn_of_node_class(*pool, *cluster, warnings);
    warn_of_catalog(*pool, *cluster, warnings);
    warn_of_weight_ties(*pool, *cluster, warnings);
    if (is_edit) {
      warn_of_replacements(*pool, *cluster, warnings);
    }
  }
  const auto now = cluster != nullptr ? cluster->now : base::TimePoint();
  warn_of_disruption(*pool, now, warnings);
  warn_of_annotations(*pool, now, warnings);
  warn_of_pool_limits(*pool, warnings);
  return std::move(warnings).take();
}

}  // namespace millwright::webhooks
