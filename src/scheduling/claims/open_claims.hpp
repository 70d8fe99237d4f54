// Claims that may take more pods, in the order they are tried: by rank (how many pods they have, or
// none), then by age. Shared by all classes that look for a claim in the same domains.
#pragma once

#include "scheduling/values/ids.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace millwright::scheduling {

// A set of claims, one bit each.
class ClaimMarks {
 public:
  bool contains(ClaimId claim) const { return (word(claim.index() / 64) & bit(claim)) != 0; }
  void insert(ClaimId claim) {
    const std::size_t at = claim.index() / 64;
    if (words_.size() <= at) {
      words_.resize(at + 1, 0);
    }
    words_[at] |= bit(claim);
  }
  void erase(ClaimId claim) { words_[claim.index() / 64] &= ~bit(claim); }
  std::size_t word_count() const { return words_.size(); }
  // Those from `first` on.
  template <class Visit>
  void for_each_from(ClaimId first, Visit visit) const {
    std::uint64_t ahead = ~std::uint64_t{0} << (first.index() % 64);
    for (std::size_t i = first.index() / 64; i < words_.size(); ++i) {
      for (auto word = words_[i] & ahead; word != 0; word &= word - 1) {
        visit(ClaimId(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
      ahead = ~std::uint64_t{0};
    }
  }
  // 64 claims; none beyond those that were ever inserted.
  std::uint64_t word(std::size_t index) const { return index < words_.size() ? words_[index] : 0; }

 private:
  static std::uint64_t bit(ClaimId claim) { return std::uint64_t{1} << (claim.index() % 64); }
  std::vector<std::uint64_t> words_;
};

class OpenClaims {
 public:
  // What becomes of a claim that was visited.
  enum class Verdict : std::uint8_t { Take, PassOver, Drop };

  // Claims before this one were looked at already, whether or not they were added.
  ClaimId seen() const { return seen_; }
  void see(ClaimId claim, bool add, std::uint32_t rank) {
    seen_ = ++ClaimId(claim);
    if (add) {
      insert(claim, rank);
    }
  }
  // The claim has gone from one rank to another; `open`: it can still take pods.
  void move(ClaimId claim, std::uint32_t from, std::uint32_t to, bool open) {
    if (claim >= seen_ || from >= ranks_.size() || (from == to && open) ||
        !ranks_[from].claims.contains(claim)) {
      return;
    }
    erase(claim, from);
    if (open) {
      insert(claim, to);
    }
  }
  // In order, those of `among` that are not in `except`, until `visit` takes one. A claim that it
  // drops is never listed again.
  template <class Visit>
  std::optional<ClaimId> first(const ClaimMarks& among, const ClaimMarks& except, Visit visit) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const Rank& here = ranks_[rank];
      for (std::size_t i = here.count == 0 ? here.claims.word_count() : 0;
           i < here.claims.word_count(); ++i) {
        for (auto word = here.claims.word(i) & among.word(i) & ~except.word(i); word != 0;
             word &= word - 1) {
          const ClaimId claim(i * 64 + static_cast<std::size_t>(std::countr_zero(word)));
          const Verdict verdict = visit(claim);
          if (verdict == Verdict::Take) {
            return claim;
          }
          if (verdict == Verdict::Drop) {
            erase(claim, rank);
          }
        }
      }
    }
    return std::nullopt;
  }

 private:
  struct Rank {
    ClaimMarks claims;
    std::size_t count = 0;
  };
  void insert(ClaimId claim, std::uint32_t rank) {
    if (ranks_.size() <= rank) {
      ranks_.resize(rank + 1);
    }
    ranks_[rank].claims.insert(claim);
    ++ranks_[rank].count;
  }
  void erase(ClaimId claim, std::uint32_t rank) {
    ranks_[rank].claims.erase(claim);
    --ranks_[rank].count;
  }
  ClaimId seen_;
  std::vector<Rank> ranks_;
};

}  // namespace millwright::scheduling
