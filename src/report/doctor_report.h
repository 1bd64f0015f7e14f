// What `infold doctor` says: measured and expected times by size, the verdict, and how well each cause fits.
#pragma once

#include <string>
#include <vector>

#include "study/doctor/diagnosis.h"

namespace infold::report {

struct DoctorReport {
  std::string system;
  std::string log;
  std::vector<std::string> notes;  ///< what of the log was assumed or is not compared
  study::Diagnosis diagnosis;
};

std::string doctor_text(const DoctorReport& report);
std::string doctor_json(const DoctorReport& report);

}  // namespace infold::report
