package io.conclave.protocol;

/**
 * One identity of a connection.
 *
 * @param scheme how it was proved
 * @param user the identity
 */
public record ClientInfo(String scheme, String user) implements WireRecord {
    static final int MIN_BYTES = 2 * Integer.BYTES;

    @Override
    public void encode(JuteWriter out) {
        out.writeString(scheme);
        out.writeString(user);
    }

    static ClientInfo decode(JuteReader in) {
        return new ClientInfo(in.readString("authScheme"), in.readString("user"));
    }
}
