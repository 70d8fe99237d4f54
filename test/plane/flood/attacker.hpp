// A hostile caller on loopback, who floods ports of a controller with what costs a server most and
// a caller least. Bounded: in how often it strikes, and in what it holds open. Each kind of assault
// on each port has a thread and an address of its own, and they yield to everybody else: a real
// attacker would have a machine of its own.
#pragma once

#include "millwright/base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::plane {

enum class Assault : std::uint8_t {
  HalfOpen,         // connections that stop in the middle of the handshake
  SlowBodies,       // announce the largest body, and send a byte now and then
  LargestBodies,    // as large as the port takes, full of names; every other one a byte too large
  NestedJson,       // as many brackets within brackets as the port takes, 1 MiB at most
  ManyConnections,  // from one address, more than it may have; new ones for those that are closed
  MadeUpPods,       // each call is about another pod that does not exist, on nodes that do
};
inline constexpr std::array kAssaults{Assault::HalfOpen,        Assault::SlowBodies,
                                      Assault::LargestBodies,   Assault::NestedJson,
                                      Assault::ManyConnections, Assault::MadeUpPods};
std::string_view name_of(Assault assault);

// A port, and what is sent to it.
struct Victim {
  std::string name;  // for people
  int port = 0;
  bool tls = false;
  std::string certificate_pem;  // shown to it; empty: none
  std::string key_pem;
  std::string path;
  std::size_t body_limit = 0;
};

class Attacker {
 public:
  // Attacks from now on. Pods are made up for `nodes`. Invalid: a certificate cannot be used.
  static base::Result<std::unique_ptr<Attacker>> start(std::vector<Victim> victims,
                                                       std::vector<Assault> assaults,
                                                       std::vector<std::string> nodes);
  ~Attacker();
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;

  // Connections that a server took, all assaults together.
  std::size_t strikes() const;
  // Of the assault that came to the fewest.
  std::size_t fewest_strikes() const;
  // Answers with a status below 400, between 400 and 499, and above.
  struct Answers {
    std::size_t accepted = 0;
    std::size_t refused = 0;
    std::size_t overloaded = 0;
  };
  Answers answers() const;

 private:
  struct State;
  Attacker();
  std::unique_ptr<State> state_;
};

}  // namespace millwright::plane
