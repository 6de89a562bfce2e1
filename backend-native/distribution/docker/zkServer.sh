#!/bin/bash
# What Compose files for the official ZooKeeper image call.
set -eu

case ${1:-start-foreground} in
    start-foreground) exec conclave-container start-foreground ;;
    status)
        mode=$(conclave-health)
        echo "Mode: $mode"
        ;;
    *)
        echo "zkServer.sh: use start-foreground or status here, or conclave-server for all else" >&2
        exit 2
        ;;
esac
