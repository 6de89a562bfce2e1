package io.conclave.protocol;

/** A reply that is all header: of delete, ping, auth, closeSession, the watch requests but addWatch, and all errors. */
public record EmptyReply() implements ReplyBody {
    /** The only one needed. */
    public static final EmptyReply INSTANCE = new EmptyReply();

    @Override
    public void encode(JuteWriter out) {}
}
