// Packs the pods of a pool's claims anew, claim by claim instead of pod by pod: which machine, and
// which pods with it, give the most room for the money? Pods that other pods matter to stay in
// the domains (zones) that they were placed in, so what was decided about those holds.
//
//     for the dearest pod that waits:
//         for each machine that is a good buy:  fill it, in mind, with pods that suit it
//         buy the one whose price is least for what its pods are worth
//
// What pods are worth are the dual prices of the fractional problem (resource_prices.hpp).
#pragma once

#include "scheduling/fill_choice.hpp"
#include "scheduling/lot_scan.hpp"
#include "scheduling/pod_lots.hpp"
#include "scheduling/program_memory.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace millwright::scheduling {

class Repacking {
 public:
  Repacking(const PodClasses& pods, std::span<const PoolTemplate> pools, const Topology& topology,
            ClaimDrafts& drafts, ProgramMemory& programs)
      : pods_(pods), pools_(pools), topology_(topology), drafts_(drafts), programs_(programs) {}

  // Replaces the pool's claims by others that cost less. False when none were found, or within
  // the number of steps that it may take; then nothing has changed.
  bool run(std::uint32_t pool);

 private:
  // A claim that is being filled, as the machine that it is meant to be.
  struct Bin {
    ClaimDraft claim;
    std::size_t row = 0;
    double price = 0;
    Amounts left;
    std::vector<std::uint32_t> spreading;  // groups by hostname that some pod is held to
    std::vector<std::uint32_t> lots;       // of its pods
  };
  struct Buy {
    std::size_t row = 0;
    double price = 0;
    double efficiency = 0;  // price over the worth of its room; 1 is the best there is
  };
  // Machines of different room or price; the same ones twice.
  struct Market {
    std::vector<Buy> by_efficiency;
    std::vector<Buy> by_price;
  };
  // The cheapest claims so far. Nodes have a cost of their own, so that more of them must save
  // more.
  struct Contest {
    std::size_t before = 0;           // claims that there were
    double least = 0;                 // to beat, with what more nodes cost
    double price = 0;                 // of the cheapest, or of those before
    std::size_t claims = 0;           // likewise
    std::size_t fewest = 0;           // of all that took part; 0: none did
    std::vector<ClaimDraft> winners;  // none: those before
    double with_node_cost(double of, std::size_t count) const;
  };
  void consider(std::vector<ClaimDraft>& claims, Contest& contest) const;

  // Claim by claim, each the best buy for those that wait.
  bool repack(PodLots& lots, std::vector<ClaimDraft>& result);
  // All claims at once: the fills that a linear program chooses (repacking_fills.cpp).
  // False when they would not come to less than `most`.
  bool repack_by_fills(PodLots& lots, double most, std::vector<ClaimDraft>& result);
  // Programs for what the ones before it have left, as long as there is work to be done.
  bool dive(PodLots& lots, std::span<const SoldMachine> machines, double most,
            std::vector<ClaimDraft>& result);
  // What stays has room that is paid for.
  void fill_kept(PodLots& lots, std::vector<ClaimDraft>& result);
  // What the pods' room costs by the fraction of a machine.
  static double fractional_price(const PodLots& lots);
  bool worth_a_program(const PodLots& lots, const std::vector<ClaimDraft>& kept,
                       const Contest& contest) const;
  void try_program(const PodLots& lots, const std::vector<ClaimDraft>& kept, Contest& contest);
  KnownLots known(const PodLots& lots, const std::vector<ClaimDraft>& kept) const;
  // What the program wants as a whole, or most of all.
  bool buy(PodLots& lots, const FillChoice& choice, std::vector<ClaimDraft>& result);
  bool build(PodLots& lots, const Fill& fill, std::vector<ClaimDraft>& result);
  std::optional<Bin> begin(PodLots& lots, std::uint32_t lot, std::size_t row, double price);
  // A claim that begins with a pod of the lot.
  bool start(PodLots& lots, std::uint32_t lot, std::vector<ClaimDraft>& result);
  // Begins to look for lots to fill a claim of the shape.
  void look_for_lots(const PodLots& lots, std::uint32_t shape);
  // The machine for a claim that begins with a pod of the lot.
  std::optional<Buy> choose(const PodLots& lots, std::uint32_t lot);
  const Market& market(const PodLots& lots, std::uint32_t shape);
  std::vector<Buy> worth_trying(const PodLots& lots, const Lot& lot);
  // What the pods are worth that the machine would hold, one of the lot among them.
  double fill_in_mind(const PodLots& lots, const Buy& buy, std::uint32_t first);
  // As a claim of the shape.
  void fill(PodLots& lots, Bin& bin, std::uint32_t like);
  // Notes for each lot what its pods pay for what they are worth.
  void charge(const PodLots& lots, const Bin& bin);
  bool add_from(PodLots& lots, Lot& lot, Bin& bin);
  // Whatever order its pods came in, no rule about who shares a node is broken.
  bool hosts_admit(const Bin& bin, const Candidate& candidate) const;
  void note_spreading(Bin& bin, const Candidate& candidate) const;
  // The shape after a pod of the lot joins; kNone when the machine would cost more then.
  std::uint32_t suits(std::uint32_t shape, const PodLots& lots, const Lot& lot, std::size_t row,
                      double price);
  double price_of(const std::vector<ClaimDraft>& claims) const;

  const PodClasses& pods_;
  std::span<const PoolTemplate> pools_;
  const Topology& topology_;
  ClaimDrafts& drafts_;
  ProgramMemory& programs_;
  std::uint32_t pool_ = 0;
  std::map<std::uint32_t, Market> markets_;  // by shape
  double floor_ = 0;
  // By shape; by lot and column: how much what is left of the resource speaks for pods of the lot.
  std::map<std::uint32_t, std::vector<double>> attractions_;
  struct Choice {
    std::uint32_t lot = 0;
    std::optional<Buy> buy;
    double expected = 0;  // price over value of its pods
    double ratio = 0;     // as it came out the last time
    std::size_t times = 0;
  };
  Choice last_;
  bool sharing_ = false;        // more claims are needed than would be made for the price
  std::set<Fill> known_fills_;  // of claims that were packed one by one, to begin with
  std::vector<double> paid_;    // by lot: price over value, added up over its pods
  LotScan scan_;                // of the claim that is being filled
};

}  // namespace millwright::scheduling
