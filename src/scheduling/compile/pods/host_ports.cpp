#include "scheduling/compile/pods/host_ports.hpp"

#include "scheduling/compile/pods/declared_ports.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

bool clash(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.ip == b.ip || a.ip.empty() || b.ip.empty());
}

}  // namespace

std::string HostPort::to_string() const {
  return (ip.empty() ? std::string("*") : ip) + ":" + std::to_string(port) + "/" + protocol;
}

HostPorts::HostPorts(const model::PodSpec& spec) {
  for (const auto* port : declared_host_ports(spec)) {
    const bool wildcard = port->host_ip == "0.0.0.0" || port->host_ip == "::";
    ports_.push_back({port->host_port, port->protocol.empty() ? "TCP" : port->protocol,
                      wildcard ? std::string() : port->host_ip});
  }
  std::sort(ports_.begin(), ports_.end());
}

const HostPort* HostPorts::conflict(const HostPorts& other) const {
  for (const HostPort& mine : ports_) {
    for (const HostPort& theirs : other.ports_) {
      if (clash(mine, theirs)) {
        return &mine;
      }
    }
  }
  return nullptr;
}

void HostPorts::add(const HostPorts& other) {
  if (other.empty()) {
    return;
  }
  ports_.insert(ports_.end(), other.ports_.begin(), other.ports_.end());
  std::sort(ports_.begin(), ports_.end());
}

}  // namespace millwright::scheduling
