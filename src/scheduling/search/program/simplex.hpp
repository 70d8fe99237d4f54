// A covering linear program: buy columns at the least cost so that every row gets what it demands.
// Columns are bought by the fraction. More of them may be added after an optimum has been found;
// the next solve() goes on from there, which is what column generation needs.
//
//                 column 1   column 2   column 3
//     cost           0.21       0.40       0.19      least
//     row a            3          .          1       >= 17
//     row b            2          5          .       >= 40
//
// The method is the revised simplex method with an explicit inverse of the basis, stored column by
// column. Every pivot leaves rounding errors in the inverse. It is therefore computed afresh from
// the columns of the basis (reinversion) after a number of pivots, and as soon as the residual,
// which is cheap to compute, shows that the errors have grown.
//
// Deterministic: the same calls give the same results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace millwright::scheduling {

class Simplex {
 public:
  struct Rows {
    std::vector<double> demand;
    // By row: the cost of a column that covers one unit of this row and nothing else. The program
    // has these columns from the beginning; they are the first basis.
    std::vector<double> unit_costs;
    // So many of the last rows get exactly what they demand; the others may get more.
    std::size_t exact = 0;
  };
  struct Entry {
    std::uint32_t row = 0;
    double amount = 0;
  };
  // When to compute the inverse afresh. The number of pivots grows with the rows, since that costs
  // about as much as one pivot for each row.
  struct Reinversion {
    std::size_t pivots = 500;
    std::size_t pivots_per_row = 4;
    double residual = 1e-9;
  };

  explicit Simplex(Rows rows);
  Simplex(Rows rows, Reinversion reinversion);

  void add(double cost, std::span<const Entry> entries);
  // Finds the optimum. Stops before it when `work` is used up, of which it subtracts what it does.
  void solve(std::size_t& work);

  double objective() const;
  // How much of each column is bought. The first columns are those of Rows::unit_costs.
  std::vector<double> amounts() const;
  // What one more unit of demand would cost. At the optimum, no column's entries are worth more at
  // these prices than the column costs.
  double dual_price(std::size_t row) const { return duals_[row]; }

  // How far the solution is from solving its equations: the largest error in what a row gets, as a
  // part of its demand, and in what a column of the basis is worth, as a part of the highest cost.
  double residual() const;

 private:
  std::size_t rows() const { return demand_.size(); }
  std::span<const Entry> entries(std::size_t column) const;
  double cost(std::size_t column) const;
  // What its entries are worth, less its cost: the negative of the reduced cost.
  double profit(std::size_t column) const;

  // The column that saves most for its cost; none when the basis is optimal.
  std::optional<std::size_t> entering_column() const;
  // Sets direction_ to the column in terms of the basis.
  void express(std::size_t column);
  // The row of the basis that reaches zero first as the column enters.
  std::optional<std::size_t> leaving_row() const;
  void pivot(std::size_t row, std::size_t column);
  // Brings the column that direction_ stands for into the inverse, in this row. Afterwards
  // direction_ lacks that row.
  void eliminate(std::size_t row);
  bool needs_reinversion(bool optimal) const;
  // Computes the inverse, the amounts and the dual prices from the columns of the basis. Leaves
  // them as they are when the basis is too close to singular.
  void reinvert();
  bool invert();

  std::vector<double> demand_;
  std::size_t exact_;
  Reinversion reinversion_;
  double highest_cost_ = 0;  // of the unit columns
  std::vector<double> costs_;
  std::vector<Entry> entries_;      // of one column after the other
  std::vector<std::size_t> begin_;  // by column, into entries_; one more at the end
  std::vector<Entry> surplus_;      // by row: the column that takes what the row has too much of
  std::vector<std::size_t> basis_;  // by row: a column, or kSurplus + row
  std::vector<double> inverse_;     // of the basis, column by column
  std::vector<double> amounts_;     // by row of the basis
  std::vector<double> duals_;       // by row
  std::vector<double> direction_;   // by row of the basis, see express()
  std::vector<double> pivot_row_;   // of the inverse
  std::size_t pivots_ = 0;          // since the last inversion
};

}  // namespace millwright::scheduling
