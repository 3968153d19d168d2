// fiel-node: see pool/node.h and docs/fleet.md.
#include "pool/node.h"

int main() { return fiel::serve_node(); }
