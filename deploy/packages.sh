#!/bin/sh
# Programs that tests need are installed where that can be done without asking. Where it cannot, the
# tests are skipped and say so at the end of the run.
#
#   sh deploy/packages.sh browser     # `make test`: for tests of pages
#   sh deploy/packages.sh services    # .ci/run: for tests of what deploy/ offers
case ${1-} in
    browser)
        for program in "${ZERMELO_CHROMIUM:-chromium}" chromium-browser google-chrome; do
            command -v "$program" >/dev/null && exit 0
        done
        wanted=chromium
        what="the package chromium" why="tests of pages need a browser"
        ;;
    services)
        wanted=
        for known in haproxy:haproxy promtool:prometheus slurmctld:slurm-wlm munged:munge; do
            command -v "${known%:*}" >/dev/null || wanted="$wanted ${known#*:}"
        done
        wanted=${wanted# }
        [ -n "$wanted" ] || exit 0
        what="the packages $wanted" why="tests of deploy/ run them"
        # Tests start what they need; systemd shall not.
        export SYSTEMD_OFFLINE=1
        ;;
    *)
        echo "usage: packages.sh browser|services" >&2
        exit 2
        ;;
esac
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0

export DEBIAN_FRONTEND=noninteractive
# Several names are several words.
# shellcheck disable=SC2086
install() { apt-get install -y --no-install-recommends $wanted 2>&1; }

echo "installing $what with apt-get: $why"
# Images of containers come without the lists of packages, and old lists name files that are gone.
said=$(install) || said=$(apt-get update 2>&1 && install) ||
    printf '%s cannot be installed: %s\n' "$wanted" "$(printf '%s\n' "$said" | tail -n 1)"
