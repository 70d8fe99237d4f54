// Claims that may take more pods, in the order they are tried: by rank (how many pods they have, or
// none), then by age. Shared by all classes that look for a claim in the same domains.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millwright::scheduling {

class OpenClaims {
 public:
  // Claims below this number were looked at already, whether or not they were added.
  std::uint32_t seen() const { return seen_; }
  void see(std::uint32_t claim, bool add, std::uint32_t rank) {
    seen_ = claim + 1;
    if (add) {
      insert(claim, rank);
    }
  }
  // The claim has gone from one rank to another; `open`: it can still take pods.
  void move(std::uint32_t claim, std::uint32_t from, std::uint32_t to, bool open) {
    if (claim >= seen_ || from >= ranks_.size() || (from == to && open)) {
      return;
    }
    auto& old = ranks_[from];
    const auto at = std::lower_bound(old.begin(), old.end(), claim);
    if (at == old.end() || *at != claim) {
      return;
    }
    old.erase(at);
    if (open) {
      insert(claim, to);
    }
  }
  // In order, until `visit` returns true.
  template <class Visit>
  bool any(Visit visit) const {
    for (const auto& claims : ranks_) {
      for (const std::uint32_t claim : claims) {
        if (visit(claim)) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  void insert(std::uint32_t claim, std::uint32_t rank) {
    if (ranks_.size() <= rank) {
      ranks_.resize(rank + 1);
    }
    auto& claims = ranks_[rank];
    claims.insert(std::lower_bound(claims.begin(), claims.end(), claim), claim);
  }
  std::uint32_t seen_ = 0;
  std::vector<std::vector<std::uint32_t>> ranks_;
};

// Claims that have turned a class away, one bit each.
class ClaimMarks {
 public:
  bool contains(std::uint32_t claim) const {
    return claim / 64 < words_.size() && (words_[claim / 64] >> (claim % 64) & 1) != 0;
  }
  void insert(std::uint32_t claim) {
    if (words_.size() <= claim / 64) {
      words_.resize(claim / 64 + 1, 0);
    }
    words_[claim / 64] |= std::uint64_t{1} << (claim % 64);
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace millwright::scheduling
