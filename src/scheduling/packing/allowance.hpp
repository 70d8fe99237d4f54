// How much work a plan may still take. Counted in attempts to give a pod a place and not in
// seconds, so that a plan is the same on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace millwright::scheduling {

class Allowance {
 public:
  explicit Allowance(std::uint64_t left) : left_(left) {}

  // A look at a node costs one, some 6 ns. What the others cost was measured, within a factor of
  // two.
  void look_at_nodes(std::size_t nodes) { spend(nodes); }
  void look_at_choices(std::size_t choices) { spend(kChoice * choices); }
  void try_claim() { spend(kClaim); }
  void open_claim(std::size_t pools) { spend(kPool * pools); }
  // Whether a NodePool could hold a pod at all.
  void ask_pool() { spend(kPool); }
  // Why a pod may not be on a claim of a NodePool.
  void explain(std::size_t times) { spend(kExplanation * times); }

  bool is_spent() const { return left_ == 0; }

 private:
  static constexpr std::uint64_t kChoice = 50;
  static constexpr std::uint64_t kClaim = 25;
  static constexpr std::uint64_t kPool = 1000;
  static constexpr std::uint64_t kExplanation = 5000;

  void spend(std::uint64_t work) { left_ -= std::min(left_, work); }

  std::uint64_t left_;
};

}  // namespace millwright::scheduling
