#!/usr/bin/env bash
# Installs the engines that the tests of stores start, each by itself: what cannot be had is reported and left out.
#   bash test/peers/engines/install.sh [oxigraph] [fuseki] [virtuoso] [rdf4j]
set -uo pipefail
cd "$(dirname "$0")"
FUSEKI_VERSION=5.5.0
OXIGRAPH_VERSION=0.5.13
mkdir -p installed

install_oxigraph() {
  if [ -n "${OXIGRAPH:-}" ] || command -v oxigraph > /dev/null || [ -x installed/py/bin/oxigraph ]; then return 0; fi
  command -v pip3 > /dev/null || bash packages.sh python3-pip || return 1
  pip3 install --quiet --no-deps --target installed/py "oxigraph==$OXIGRAPH_VERSION"
}

install_fuseki() {
  command -v java > /dev/null || bash packages.sh default-jre-headless || return 1
  if [ -n "${FUSEKI_JAR:-}" ] || [ -e "installed/jena-fuseki-server-$FUSEKI_VERSION.jar" ]; then return 0; fi
  command -v mvn > /dev/null || bash packages.sh maven || return 1
  mvn --batch-mode --quiet dependency:copy -DoutputDirectory="$PWD/installed" \
    -Dartifact="org.apache.jena:jena-fuseki-server:$FUSEKI_VERSION"
}

install_virtuoso() {
  if command -v virtuoso-t > /dev/null && command -v isql-vt > /dev/null; then return 0; fi
  bash packages.sh virtuoso-opensource-7-bin
}

install_rdf4j() {
  command -v java > /dev/null || bash packages.sh default-jdk-headless || return 1
  if [ -n "${RDF4J:-}" ] || ls installed/rdf4j/rdf4j-http-server-spring-*.jar > /dev/null 2>&1; then return 0; fi
  command -v mvn > /dev/null || bash packages.sh maven || return 1
  mvn --batch-mode --quiet --file rdf4j/pom.xml dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$PWD/installed/rdf4j"
}

# Engines beside each other, but those that Maven fetches one after the other.
install() {
  local name
  for name in "$@"; do
    timeout 300 bash -c "install_$name" || echo "SKIPPED: $name cannot be installed here, so no test uses it"
  done
}

[ $# -gt 0 ] || set -- oxigraph fuseki virtuoso rdf4j
export FUSEKI_VERSION OXIGRAPH_VERSION
export -f install_oxigraph install_fuseki install_virtuoso install_rdf4j
fetched=()
for name in "$@"; do
  case $name in
    fuseki | rdf4j) fetched+=("$name") ;;
    *) install "$name" & ;;
  esac
done
install "${fetched[@]}"
wait
