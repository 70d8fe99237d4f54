// Writing Prometheus' text format. Label texts are made once per object and used for many series:
// a page of a large cluster has a quarter of a million of them.
#pragma once

#include <string>
#include <string_view>

namespace millwright::telemetry {

// `a="x",b="y"`, values escaped.
class Labels {
 public:
  Labels& add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Text {
 public:
  explicit Text(std::size_t expected_size) { text_.reserve(expected_size); }
  // Begins a family of gauges; the samples that follow belong to it. `help` is one sentence.
  void gauge(std::string_view name, std::string_view help);
  void sample(const Labels& labels, double value);
  // With one more label, whose value needs no escaping.
  void sample(const Labels& labels, std::string_view name, std::string_view value, double amount);
  void sample(double value);
  std::string take() { return std::move(text_); }

 private:
  void number(double value);

  std::string text_;
  std::string name_;
};

// "nvidia.com/gpu" is "nvidia.com/gpu", "ephemeral-storage" is "ephemeral_storage": as Karpenter
// writes resource names.
std::string resource_label(std::string_view resource);
// A label key as a Prometheus label name: "karpenter.sh/nodepool" is "karpenter_sh_nodepool".
std::string label_name(std::string_view key);

}  // namespace millwright::telemetry
