#!/bin/bash
# What Compose files for the official ZooKeeper image call.
set -eu

case ${1:-start-foreground} in
    start-foreground) exec conclave-container start-foreground ;;
    status)
        if ! mode=$(conclave-health); then
            echo "${mode:-Error contacting service. It is probably not running.}" >&2
            exit 1
        fi
        echo "Mode: $mode"
        ;;
    *)
        echo "zkServer.sh: use start-foreground or status here, or conclave-server for all else" >&2
        exit 2
        ;;
esac
