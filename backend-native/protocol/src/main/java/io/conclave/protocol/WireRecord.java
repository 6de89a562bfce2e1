package io.conclave.protocol;

/** A record with a form on the wire. */
public interface WireRecord {

    /**
     * Appends this record to a frame. Does not block.
     *
     * @param out where to write
     */
    void encode(JuteWriter out);
}
