#!/usr/bin/env bash
# Installs the engines that the tests of stores start, each by itself: what cannot be had is told and left out.
#   bash test/peers/engines/install.sh [oxigraph] [fuseki] [virtuoso] [rdf4j]
set -uo pipefail
cd "$(dirname "$0")"
FUSEKI_VERSION=5.5.0
OXIGRAPH_VERSION=0.5.13
mkdir -p installed

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# The lists of packages are fetched once, and only where something is missing.
install_packages() {
  if [ ! -e installed/.updated ]; then as_root apt-get update -qq && touch installed/.updated; fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" > /dev/null
}

install_oxigraph() {
  if [ -n "${OXIGRAPH:-}" ] || command -v oxigraph > /dev/null || [ -x installed/py/bin/oxigraph ]; then return 0; fi
  command -v pip3 > /dev/null || install_packages python3-pip || return 1
  pip3 install --quiet --no-deps --target installed/py "oxigraph==$OXIGRAPH_VERSION"
}

install_fuseki() {
  command -v java > /dev/null || install_packages default-jre-headless || return 1
  if [ -n "${FUSEKI_JAR:-}" ] || [ -e "installed/jena-fuseki-server-$FUSEKI_VERSION.jar" ]; then return 0; fi
  command -v mvn > /dev/null || install_packages maven || return 1
  mvn --batch-mode --quiet dependency:copy -DoutputDirectory="$PWD/installed" \
    -Dartifact="org.apache.jena:jena-fuseki-server:$FUSEKI_VERSION"
}

install_virtuoso() {
  if command -v virtuoso-t > /dev/null && command -v isql-vt > /dev/null; then return 0; fi
  install_packages virtuoso-opensource-7-bin
}

install_rdf4j() {
  command -v java > /dev/null || install_packages default-jdk-headless || return 1
  if [ -n "${RDF4J:-}" ] || ls installed/rdf4j/rdf4j-http-server-spring-*.jar > /dev/null 2>&1; then return 0; fi
  command -v mvn > /dev/null || install_packages maven || return 1
  mvn --batch-mode --quiet --file rdf4j/pom.xml dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$PWD/installed/rdf4j"
}

[ $# -gt 0 ] || set -- oxigraph fuseki virtuoso rdf4j
export FUSEKI_VERSION OXIGRAPH_VERSION
export -f as_root install_packages install_oxigraph install_fuseki install_virtuoso install_rdf4j
for name in "$@"; do
  timeout 300 bash -c "install_$name" || echo "SKIPPED: $name cannot be installed here, so no test uses it"
done
