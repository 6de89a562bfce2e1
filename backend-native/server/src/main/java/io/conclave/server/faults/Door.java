package io.conclave.server.faults;

import java.util.function.Function;

/** From a server to its faults, past the API of its class. */
final class Door {
    static volatile Function<AutoCloseable, ServerFaults> toServer = server -> {
        throw new IllegalArgumentException("no server has been started in this JVM, so this is none: " + server);
    };

    private Door() {}
}
