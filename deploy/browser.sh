#!/bin/sh
# Tests of pages need a browser: install Chromium where that can be done without asking. Where it
# cannot, the tests are skipped and say so at the end of the run.
for program in "${ZERMELO_CHROMIUM:-chromium}" chromium-browser google-chrome; do
    command -v "$program" >/dev/null && exit 0
done
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0

export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y --no-install-recommends chromium 2>&1; }

echo "installing the package chromium with apt-get: tests of pages need a browser"
# Images of containers come without the lists of packages, and old lists name files that are gone.
said=$(install) || said=$(apt-get update 2>&1 && install) ||
    printf 'chromium cannot be installed: %s\n' "$(printf '%s\n' "$said" | tail -n 1)"
