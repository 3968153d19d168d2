// What a durable step leaves behind. Apart from recorder.h, so that only code that makes records pays for the JSON header.
#pragma once

#include <nlohmann/json.hpp>

#include "journal/recorder.h"

namespace fiel {

struct Record {
  Json body;
  Series series = {};
};

}  // namespace fiel
