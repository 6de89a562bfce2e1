package io.conclave.consensus;

import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secrets of a cluster that this member has, and what it asks of others. Two while they are replaced: a member
 * proves that it has one of them, and takes members that prove any. The bytes do not leave this class. Immutable; any
 * thread.
 */
public final class PeerSecrets {
    /** The length of a secret, at least. */
    public static final int LEAST_BYTES = 32;

    /** How many there may be. */
    public static final int MOST_SECRETS = 2;

    /** Nobody proves anything. */
    public static final PeerSecrets NONE = new PeerSecrets(PeerAuthentication.NONE, List.of());

    private static final String ALGORITHM = "HmacSHA256";

    private final PeerAuthentication authentication;
    private final List<SecretKey> secrets;

    private PeerSecrets(PeerAuthentication authentication, List<SecretKey> secrets) {
        this.authentication = authentication;
        this.secrets = secrets;
    }

    /**
     * The secrets, the present one first; they are copied.
     *
     * @throws IllegalArgumentException if there is none, there are too many, or one is too short
     */
    public static PeerSecrets of(PeerAuthentication authentication, List<byte[]> secrets) {
        if (authentication == PeerAuthentication.NONE) {
            return NONE;
        }
        if (secrets.isEmpty() || secrets.size() > MOST_SECRETS) {
            throw new IllegalArgumentException(
                    "there are " + secrets.size() + " secrets; 1 to " + MOST_SECRETS + " are allowed");
        }
        for (byte[] secret : secrets) {
            if (secret.length < LEAST_BYTES) {
                throw new IllegalArgumentException(
                        "a secret has " + secret.length + " bytes; it must have " + LEAST_BYTES + " or more");
            }
        }
        return new PeerSecrets(
                authentication,
                secrets.stream()
                        .<SecretKey>map(secret -> new SecretKeySpec(secret, ALGORITHM))
                        .toList());
    }

    /** What this member asks of others. */
    public PeerAuthentication authentication() {
        return authentication;
    }

    /** How many there are. */
    public int size() {
        return secrets.size();
    }

    /** The proof that this member has that secret, for this text only: its HMAC-SHA256. */
    public byte[] proof(int index, byte[] text) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secrets.get(index));
            return mac.doFinal(text);
        } catch (NoSuchAlgorithmException | InvalidKeyException e) {
            throw new IllegalStateException("this Java has no " + ALGORITHM, e);
        }
    }

    /**
     * Which secret a proof for the text was made with; -1 if with none of these. Takes the same time for all proofs.
     */
    public int provenBy(byte[] proof, byte[] text) {
        int found = -1;
        for (int i = secrets.size() - 1; i >= 0; i--) {
            if (MessageDigest.isEqual(proof(i, text), proof)) {
                found = i;
            }
        }
        return found;
    }

    /** Tells no secret. */
    @Override
    public String toString() {
        return authentication + " with " + secrets.size() + " secrets";
    }
}
