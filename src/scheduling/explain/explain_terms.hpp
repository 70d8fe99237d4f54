// What a NodePool offers and a pod wants, and the least change to either with which some instance
// type meets both.
#pragma once

#include "scheduling/explain/explain_pool.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

class Terms {
 public:
  // Obstacles are added to `found`, which must outlive this, and taken as removed.
  Terms(const Inspected& inspected, const Rung& rung, std::vector<Obstacle>& found);

  // A pool that nothing can be a node of.
  void mend_pool();
  // Each requirement of the pod by itself.
  void mend_requirements();
  // All of them together, where no instance type that is large enough is made or sold that meets
  // them. False when that is not for what the pod wants.
  bool mend_combination();

  // Once domains are chosen: all that follows is about machines in these.
  void keep_to(const Requirements& domains) { domains_ = domains; }

  Requirements merged() const;
  // Instance types that meet both sides.
  RowSet meeting() const { return admitted(merged()); }
  // Those with an available offering that does, too.
  RowSet on_sale() const { return admitted(merged()) & sold(merged(), true); }
  // Those that can be bought without a reservation.
  RowSet on_open_sale() const { return admitted(merged()) & sold(merged(), false); }
  RowSet on_open_sale_without(std::string_view key) const;
  // Those on sale with more requirements.
  RowSet on_sale_in(const Requirements& more) const;
  // Some of them are large enough.
  bool fit(RowSet rows) const;
  const Requirements& wanted() const { return wanted_; }
  // How the pod comes to want something else of the key: by its own words or its volumes.
  std::string drop_text(const std::string& key) const;

 private:
  struct Remedy {
    std::string text;
    std::vector<Change> changes{};
  };
  void add(Stage stage, std::string reason, Remedy remedy);
  RowSet admitted(const Requirements& requirements) const;
  RowSet sold(const Requirements& requirements, bool reserved) const;
  RowSet on_sale_without(const std::vector<std::string>& keys) const;
  void mend(const Requirement& want);
  std::string other_pool(const Requirement& want) const;
  std::string add_label(const Requirement& want) const;
  Remedy widen(const Requirement& want);
  bool sells_with(const Requirement& requirement);
  std::string sale_text() const;

  const Inspected& in_;
  const PoolTemplate& pool_;
  const TypeTable& table_;
  const Rung& rung_;
  Requirements offered_;  // by the pool, as it would be after the changes so far
  Requirements wanted_;   // by the pod, likewise
  Requirements domains_;
  bool widened_ = false;  // the pool would offer more than it does
  std::vector<Obstacle>& found_;
};

}  // namespace millwright::scheduling
