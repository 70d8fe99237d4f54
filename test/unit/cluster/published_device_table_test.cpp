#include "cluster/published_device_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace millwright::cluster {
namespace {

struct SliceOf {
  std::string name;
  std::string node;
  std::vector<std::string> devices;
  std::string driver = "gpu.example.com";
  std::string pool = "all";
  int generation = 1;
  int slices_in_pool = 1;
};

class Picture {
 public:
  Picture& node(const std::string& name, const std::string& type) {
    model::Node node;
    node.meta.name = name;
    node.meta.labels[std::string(model::kInstanceTypeLabel)] = type;
    table_.put(node);
    return *this;
  }
  Picture& slice(const SliceOf& of) {
    auto slice = std::make_shared<model::ResourceSlice>();
    slice->meta.name = of.name;
    slice->node_name = of.node;
    slice->driver = of.driver;
    slice->pool = of.pool;
    slice->generation = of.generation;
    slice->slices_in_pool = of.slices_in_pool;
    for (const std::string& device : of.devices) {
      slice->devices.push_back({.name = device});
    }
    table_.put(slice);
    return *this;
  }
  Picture& no_node(const std::string& name) {
    table_.erase_node(name);
    return *this;
  }
  Picture& no_slice(const std::string& name) {
    table_.erase_slice(name);
    return *this;
  }

  // "large: gpu.example.com/0 gpu.example.com/1; small: ..."
  std::string text() const {
    if (devices() == nullptr) {
      return "nothing";
    }
    std::string text;
    for (const auto& [type, published] : *devices()) {
      text += (text.empty() ? "" : "; ") + type + ":";
      for (const auto& each : published) {
        text += " " + each.driver.substr(0, each.driver.find('.')) + "/" + each.device.name;
      }
    }
    return text;
  }
  const std::shared_ptr<const scheduling::PublishedDevices>& devices() const {
    return table_.devices();
  }

 private:
  PublishedDeviceTable table_;
};

// "a" and "b" are of type large; a has devices 0 and 1, b has device 2.
Picture& two_nodes(Picture& picture) {
  return picture.node("a", "large")
      .node("b", "large")
      .slice({.name = "sa", .node = "a", .devices = {"1", "0"}})
      .slice({.name = "sb", .node = "b", .devices = {"2"}});
}

TEST(PublishedDeviceTable, KeepsWhatTheNodeWithTheFewestDevicesHas) {
  struct Case {
    std::string what;
    std::function<void(Picture&)> events;
    std::string known;
  };
  const Case cases[] = {
      {"nothing", [](auto&) {}, "nothing"},
      {"a node alone", [](auto& p) { p.node("a", "large"); }, "nothing"},
      {"a slice whose node is not known yet",
       [](auto& p) { p.slice({.name = "s", .node = "a", .devices = {"0"}}); }, "nothing"},
      {"the node comes after its slice",
       [](auto& p) {
         p.slice({.name = "s", .node = "a", .devices = {"1", "0"}}).node("a", "large");
       },
       "large: gpu/0 gpu/1"},
      {"a node without a type",
       [](auto& p) { p.node("a", "").slice({.name = "s", .node = "a", .devices = {"0"}}); },
       "nothing"},
      {"devices that several nodes reach",
       [](auto& p) { p.node("a", "large").slice({.name = "s", .node = "", .devices = {"0"}}); },
       "nothing"},
      {"two nodes that differ", [](auto& p) { two_nodes(p); }, "large: gpu/2"},
      {"of equal ones, the first by name",
       [](auto& p) {
         p.node("b", "large").slice({.name = "sb", .node = "b", .devices = {"2"}});
         p.node("a", "large").slice({.name = "sa", .node = "a", .devices = {"1"}});
         p.node("c", "large").slice({.name = "sc", .node = "c", .devices = {"3"}});
       },
       "large: gpu/1"},
      {"the smaller one went", [](auto& p) { two_nodes(p).no_node("b"); }, "large: gpu/0 gpu/1"},
      {"its slice went", [](auto& p) { two_nodes(p).no_slice("sb"); }, "large: gpu/0 gpu/1"},
      {"it is of another type now", [](auto& p) { two_nodes(p).node("b", "small"); },
       "large: gpu/0 gpu/1; small: gpu/2"},
      {"all of them went", [](auto& p) { two_nodes(p).no_node("b").no_node("a"); },
       "large: gpu/0 gpu/1"},
      {"all slices went", [](auto& p) { two_nodes(p).no_slice("sa").no_slice("sb"); },
       "large: gpu/2"},
      {"it is there again with more",
       [](auto& p) {
         two_nodes(p).no_node("a").no_node("b").no_slice("sa").no_slice("sb");
         p.node("b", "large").slice({.name = "s", .node = "b", .devices = {"0", "1", "2"}});
       },
       "large: gpu/0 gpu/1 gpu/2"},
      {"a pool that lacks a slice says nothing",
       [](auto& p) {
         two_nodes(p).slice({.name = "sb", .node = "b", .devices = {"2"}, .slices_in_pool = 2});
       },
       "large: gpu/0 gpu/1"},
      {"nor a driver with another pool that lacks one",
       [](auto& p) {
         two_nodes(p).slice(
             {.name = "sb2", .node = "b", .devices = {"3"}, .pool = "more", .slices_in_pool = 2});
       },
       "large: gpu/0 gpu/1"},
      {"nor one without devices",
       [](auto& p) { two_nodes(p).slice({.name = "sb", .node = "b", .devices = {}}); },
       "large: gpu/0 gpu/1"},
      {"a pool of two slices",
       [](auto& p) {
         p.node("a", "large");
         p.slice({.name = "s1", .node = "a", .devices = {"1"}, .slices_in_pool = 2});
         p.slice({.name = "s0", .node = "a", .devices = {"2", "0"}, .slices_in_pool = 2});
       },
       "large: gpu/0 gpu/1 gpu/2"},
      {"an older generation counts no more",
       [](auto& p) {
         two_nodes(p).no_node("b").slice(
             {.name = "new", .node = "a", .devices = {"5"}, .generation = 2});
       },
       "large: gpu/5"},
      {"each driver counts by itself",
       [](auto& p) {
         two_nodes(p).slice(
             {.name = "nic", .node = "a", .devices = {"0"}, .driver = "nic.example.com"});
         p.slice({.name = "dpu", .node = "b", .devices = {"0"}, .driver = "dpu.example.com"});
       },
       "large: dpu/0 gpu/2 nic/0"},
      {"a slice that moves to another node",
       [](auto& p) {
         two_nodes(p).node("c", "small").slice({.name = "sb", .node = "c", .devices = {"2"}});
       },
       "large: gpu/0 gpu/1; small: gpu/2"},
  };
  for (const Case& each : cases) {
    Picture picture;
    each.events(picture);
    EXPECT_EQ(picture.text(), each.known) << each.what;
  }
}

TEST(PublishedDeviceTable, IsTheSameObjectWhileNothingChanges) {
  struct Case {
    std::string what;
    std::function<void(Picture&)> event;
    bool same = true;
  };
  const Case cases[] = {
      {"a heartbeat", [](auto& p) { p.node("b", "large"); }},
      {"a slice written again",
       [](auto& p) { p.slice({.name = "sb", .node = "b", .devices = {"2"}}); }},
      {"a node with as many",
       [](auto& p) { p.node("c", "large").slice({.name = "sc", .node = "c", .devices = {"2"}}); }},
      {"the larger one went", [](auto& p) { p.no_node("a"); }},
      {"a slice that nobody knows went", [](auto& p) { p.no_slice("x"); }},
      {"a node that nobody knows went", [](auto& p) { p.no_node("x"); }},
      {"another device", [](auto& p) { p.slice({.name = "sb", .node = "b", .devices = {"3"}}); },
       false},
  };
  for (const Case& each : cases) {
    Picture picture;
    two_nodes(picture);
    const auto before = picture.devices();
    each.event(picture);
    EXPECT_EQ(picture.devices() == before, each.same) << each.what;
  }
}

}  // namespace
}  // namespace millwright::cluster
