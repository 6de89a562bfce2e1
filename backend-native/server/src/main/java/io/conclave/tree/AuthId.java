package io.conclave.tree;

import static java.util.Objects.requireNonNull;

/**
 * An identity, as an authentication scheme names it: an id that a connection has proved, or one that an ACL speaks of.
 *
 * @param scheme {@code auth}, {@code super} or the name of an {@link IdScheme}
 * @param id the name inside the scheme, such as {@code user:base64} for digest
 */
public record AuthId(String scheme, String id) {
    /** Any client. */
    public static final AuthId ANYONE = new AuthId("world", "anyone");

    /** The administrator that no ACL holds back; the connection that proved it carries this id. */
    public static final AuthId SUPER = new AuthId("super", "");

    public AuthId {
        requireNonNull(scheme, "scheme");
        requireNonNull(id, "id");
        scheme = IdScheme.of(scheme).map(IdScheme::word).orElse(scheme); // so that ids share the word
    }

    /** The same, without what belongs to a password. */
    public AuthId shown() {
        return IdScheme.of(scheme)
                .map(known -> new AuthId(scheme, known.shown(id)))
                .orElse(this);
    }

    boolean isSuper() {
        return scheme.equals("super");
    }
}
