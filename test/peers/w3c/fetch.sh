#!/usr/bin/env bash
# Fetches the test suites of the W3C into this folder, at the commit that the counts in README.md are of.
#   bash test/peers/w3c/fetch.sh
set -euo pipefail
cd "$(dirname "$0")"
COMMIT=ad541a5f0479f0798608c4801369d97b8e08b36f
REPOSITORY=${RDF_TESTS:-https://github.com/w3c/rdf-tests}
if [ ! -d rdf-tests ]; then
  git clone --quiet --filter=blob:none --no-checkout "$REPOSITORY" rdf-tests
fi
git -C rdf-tests checkout --quiet "$COMMIT" -- sparql
