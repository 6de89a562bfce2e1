package io.conclave.election;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** What a candidate says of itself unless told otherwise: process id and host. */
final class OwnName {
    private static final String NAME = ProcessHandle.current().pid() + "@" + host();

    private OwnName() {}

    static String get() {
        return NAME;
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown-host"; // a name for people to read; its lack must not stop a campaign
        }
    }
}
