// Computes the error of each row and over all rows.
#include "study/validation.h"

#include <cmath>

#include "sim/check.h"

namespace infold::study {

Comparison compare(const ValidationRow& row, double simulated) {
  INFOLD_CHECK(row.published > 0, "a published figure is more than nothing");
  const double error = simulated / row.published - 1;
  // An error exactly at the limit is within it, whatever the last bit of the division is.
  return {simulated, error, std::abs(error) <= row.accept * (1 + 1e-9)};
}

ValidationSummary summary(const std::vector<ValidationRow>& rows, const Comparisons& comparisons) {
  ValidationSummary s;
  double logs = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!comparisons[i]) continue;
    ++s.rows;
    s.within += comparisons[i]->within ? 1 : 0;
    // A simulated 0 gets the largest error that a finite number can express.
    logs += std::abs(std::log(std::max(comparisons[i]->simulated / rows[i].published, 1e-9)));
  }
  if (s.rows > 0) s.geomean_abs_error = std::exp(logs / s.rows) - 1;
  return s;
}

}  // namespace infold::study
