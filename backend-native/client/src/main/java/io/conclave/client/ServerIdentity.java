package io.conclave.client;

import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/**
 * The identity of a server of ours, from the data of {@value #PATH}; Apache ZooKeeper has no such znode. Before a
 * server stops it sends a data-changed event to the connections that watch this znode.
 *
 * @param ours whether the server is one of ours
 * @param clusterId the cluster, in hexadecimal; empty if unknown
 * @param generation of the cluster's numbers, if it keeps one
 */
record ServerIdentity(boolean ours, String clusterId, OptionalLong generation) {
    /** The reserved znode. */
    static final String PATH = "/zookeeper/conclave";

    /** A server that is not ours. */
    static final ServerIdentity FOREIGN = new ServerIdentity(false, "", OptionalLong.empty());

    /** Reads lines of {@code key=value}; unknown keys are for newer clients. */
    static ServerIdentity parse(byte[] data) {
        String clusterId = "";
        OptionalLong generation = OptionalLong.empty();
        for (String line : new String(data, StandardCharsets.UTF_8).split("\n", -1)) {
            int equals = line.indexOf('=');
            String key = equals < 0 ? line : line.substring(0, equals);
            String value = equals < 0 ? "" : line.substring(equals + 1).trim();
            if (key.equals("clusterId")) {
                clusterId = value;
            } else if (key.equals("generation") && value.matches("[0-9]{1,18}")) {
                generation = OptionalLong.of(Long.parseLong(value));
            }
        }
        return new ServerIdentity(true, clusterId, generation);
    }
}
