package io.conclave.error;

import java.io.Serializable;

/**
 * A process that holds what another one waits for, as its znode showed it.
 *
 * @param path its znode, in the coordinator's namespace
 * @param text the data that it left there for others to see, as text; by default its process id and host name
 * @param sessionId the session that it holds it with; 0 if it holds a lease, which no session ends
 */
public record Holder(String path, String text, long sessionId) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The text and the session, for messages. */
    @Override
    public String toString() {
        String session = sessionId == 0 ? "" : "session 0x" + Long.toHexString(sessionId) + ", ";
        return "\"" + text + "\" (" + session + path + ")";
    }
}
