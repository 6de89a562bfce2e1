package io.conclave.tree;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.security.auth.x500.X500Principal;

/**
 * The schemes of ids that an ACL can name, and what is particular to each. {@code auth} is none: it stands for the ids
 * of the caller.
 */
public enum IdScheme {
    /** Any client. */
    WORLD("world", false) {
        @Override
        boolean isValid(String id) {
            return id.equals(AuthId.ANYONE.id());
        }
    },

    /** An address or a network. It proves nothing about a person, so {@code auth} does not stand for it. */
    IP("ip", false) {
        @Override
        boolean isValid(String id) {
            return IpRange.isValid(id);
        }
    },

    /** A user and the hash of its name and password. */
    DIGEST("digest", true) {
        /** Exactly one colon that divides two parts; the user may be empty, the digest may not. */
        @Override
        boolean isValid(String id) {
            return id.split(":").length == 2;
        }

        @Override
        public String user(String id) {
            int colon = id.indexOf(':');
            return colon < 0 ? id : id.substring(0, colon);
        }

        @Override
        public String shown(String id) {
            return id.indexOf(':') < 0 ? id : user(id) + ":x";
        }
    },

    /** A user that SASL has proved: by DIGEST-MD5 its name, by Kerberos its principal. */
    SASL("sasl", true) {
        @Override
        boolean isValid(String id) {
            return !id.isEmpty()
                    && (id.indexOf('@') < 0 || PRINCIPAL.matcher(id).matches());
        }
    },

    /** The subject of a client's certificate. */
    X509("x509", true) {
        @Override
        boolean isValid(String id) {
            try {
                return !new X500Principal(id).getName().isEmpty();
            } catch (IllegalArgumentException e) {
                return false;
            }
        }
    };

    /** At this level all members understand ACLs with the schemes sasl and x509. */
    public static final int FEATURE_LEVEL = 4;

    private static final Pattern PRINCIPAL = Pattern.compile("[^/@]*(/[^/@]*)?@[^/@]*");
    private static final Map<String, IdScheme> BY_WORD =
            Arrays.stream(values()).collect(Collectors.toMap(scheme -> scheme.word, Function.identity()));

    private final String word;
    private final boolean ofPerson;

    IdScheme(String word, boolean ofPerson) {
        this.word = word;
        this.ofPerson = ofPerson;
    }

    /** The scheme of that name. */
    public static Optional<IdScheme> of(String word) {
        return Optional.ofNullable(BY_WORD.get(word));
    }

    /** Its name in ids. */
    public String word() {
        return word;
    }

    /** Whether a connection with such an id has authenticated. */
    public boolean isOfPerson() {
        return ofPerson;
    }

    /** Whether all members understand it in an ACL, whatever feature level is in force. */
    public boolean isOld() {
        return this != SASL && this != X509;
    }

    /** Whether an ACL may name this id. */
    abstract boolean isValid(String id);

    /** The name of the user, without what belongs to its password. */
    public String user(String id) {
        return id;
    }

    /** The id as others may see it: without what belongs to a password. */
    public String shown(String id) {
        return id;
    }
}
