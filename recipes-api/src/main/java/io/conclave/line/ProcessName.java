package io.conclave.line;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;

/** What a process says of itself unless told otherwise: process id and host. */
public final class ProcessName {
    private static final String NAME = ProcessHandle.current().pid() + "@" + host();

    private ProcessName() {}

    /** {@code <process id>@<host>}. Never blocks, except for the first lookup of the host. */
    public static String get() {
        return NAME;
    }

    /** As {@link #get}, in UTF-8: the data of a znode. Each time a new array. */
    public static byte[] bytes() {
        return NAME.getBytes(StandardCharsets.UTF_8);
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown-host"; // a name for people to read; its lack must not stop a recipe
        }
    }
}
