#include "cli/app.h"

int main(int argc, char** argv) {
  return infold::cli::run(argc, argv);
}
