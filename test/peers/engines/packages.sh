#!/usr/bin/env bash
# Installs packages of Debian or Ubuntu, one call after the other: `bash packages.sh NAME...`. Their lists are fetched once.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p installed
exec 9>> installed/.packages
flock 9

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

if [ ! -s installed/.packages ]; then
  as_root apt-get update -qq
  echo "lists fetched" >&9
fi
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" > /dev/null
