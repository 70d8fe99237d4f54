// Kubernetes resource quantities ("500m", "1Gi", "2e3"), as k8s.io/apimachinery's resource.Quantity
// reads and prints them. Values are stored in thousandths. Finer ones are rounded up, as by
// kube-scheduler's MilliValue; those beyond ±9.2e15 become that limit.
#pragma once

#include "millwright/base/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::model {

class Quantity {
 public:
  enum class Format : std::uint8_t { DecimalSI, BinarySI, DecimalExponent };

  constexpr Quantity() = default;
  static constexpr Quantity from_milli(std::int64_t milli, Format format = Format::DecimalSI) {
    Quantity quantity;
    quantity.milli_ = milli;
    quantity.format_ = format;
    return quantity;
  }
  static Quantity from_units(std::int64_t units, Format format = Format::DecimalSI);
  static base::Result<Quantity> parse(std::string_view text);

  constexpr std::int64_t milli() const { return milli_; }
  // Whole units, rounded up.
  std::int64_t units() const;
  double as_double() const { return static_cast<double>(milli_) / 1000.0; }
  constexpr bool is_zero() const { return milli_ == 0; }

  // Kubernetes' canonical text: the largest suffix that keeps the value exact.
  std::string to_string() const;

  // Saturating.
  Quantity& operator+=(Quantity other);
  Quantity& operator-=(Quantity other);
  Quantity& operator*=(std::int64_t times);
  friend Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  // By value only: 1024 equals 1Ki.
  friend constexpr std::strong_ordering operator<=>(Quantity a, Quantity b) {
    return a.milli_ <=> b.milli_;
  }
  friend constexpr bool operator==(Quantity a, Quantity b) { return a.milli_ == b.milli_; }

 private:
  std::int64_t milli_ = 0;
  Format format_ = Format::DecimalSI;
};

}  // namespace millwright::model
