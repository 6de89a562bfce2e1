package io.conclave.server;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parts of {@code user/host@REALM}, of which the user alone is always there.
 *
 * @param user the user, or the name of a service
 * @param host where a service is
 * @param realm whose principal it is
 */
record PrincipalName(String user, Optional<String> host, Optional<String> realm) {
    private static final Pattern FORM = Pattern.compile("([^/@]+)(/([^/@]+))?(@([^/@]+))?");

    /** @throws IllegalArgumentException if the name has another form */
    static PrincipalName of(String name) {
        Matcher parts = FORM.matcher(name);
        if (!parts.matches()) {
            throw new IllegalArgumentException("\"" + name + "\" is not of the form user/host@REALM");
        }
        return new PrincipalName(
                parts.group(1), Optional.ofNullable(parts.group(3)), Optional.ofNullable(parts.group(5)));
    }

    /**
     * The id of a user. Without rules, a realm that is not the server's own stays: its users are others.
     *
     * @param ownRealm the server's
     * @throws IllegalArgumentException if there are rules, and none of them makes it a user
     */
    String id(PrincipalRules rules, boolean removesHost, boolean removesRealm, Optional<String> ownRealm) {
        String shortened = rules.userOf(this, ownRealm)
                + (removesHost ? "" : host.map(value -> "/" + value).orElse(""));
        boolean keepsRealm = !removesRealm || (rules.isEmpty() && !realm.equals(ownRealm));
        return shortened + (keepsRealm ? realm.map(value -> "@" + value).orElse("") : "");
    }

    @Override
    public String toString() {
        return user
                + host.map(value -> "/" + value).orElse("")
                + realm.map(value -> "@" + value).orElse("");
    }
}
