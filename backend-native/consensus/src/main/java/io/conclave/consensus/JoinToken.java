package io.conclave.consensus;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What a new server shows to one member, once, to be given the cluster's secret: a random key, which that member has as
 * well. Immutable; any thread.
 */
public final class JoinToken {
    private static final String PREFIX = "join-";

    /** More than a name of a file has by chance. */
    private static final Pattern TOKEN_LIKE = Pattern.compile(PREFIX + "[0-9a-f]{16,}.*");

    private static final int KEY_BYTES = 16;
    private static final int CHECK_BYTES = 2;
    private static final int BYTES = 1 + Long.BYTES + KEY_BYTES + CHECK_BYTES;

    private final int issuer;
    private final long id;
    private final byte[] key;

    private JoinToken(int issuer, long id, byte[] key) {
        this.issuer = issuer;
        this.id = id;
        this.key = key;
    }

    /** A new one of that member. */
    public static JoinToken random(int issuer) {
        SecureRandom random = new SecureRandom();
        byte[] key = new byte[KEY_BYTES];
        random.nextBytes(key);
        return new JoinToken(issuer, random.nextLong(), key);
    }

    /**
     * The token of a {@link #text}.
     *
     * @throws IllegalArgumentException if it is none, or not whole; the message does not tell it
     */
    public static JoinToken parse(String text) {
        String lower = text.strip().toLowerCase(Locale.ROOT);
        if (!lower.startsWith(PREFIX) || lower.length() != PREFIX.length() + 2 * BYTES) {
            throw new IllegalArgumentException("this is no join token: one is " + PREFIX + " and " + 2 * BYTES
                    + " hexadecimal digits, as join-token prints it");
        }
        byte[] bytes;
        try {
            bytes = HexFormat.of().parseHex(lower, PREFIX.length(), lower.length());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("this is no join token: a character is no hexadecimal digit");
        }
        byte[] content = Arrays.copyOf(bytes, BYTES - CHECK_BYTES);
        if (!Arrays.equals(check(content), Arrays.copyOfRange(bytes, BYTES - CHECK_BYTES, BYTES))) {
            throw new IllegalArgumentException("this join token was changed on its way: copy it again");
        }
        ByteBuffer in = ByteBuffer.wrap(content);
        int issuer = in.get() & 0xff;
        long id = in.getLong();
        byte[] key = new byte[KEY_BYTES];
        in.get(key);
        return new JoinToken(issuer, id, key);
    }

    /** Whether a text was meant to be a token. */
    public static boolean isTokenLike(String text) {
        return TOKEN_LIKE.matcher(text.strip().toLowerCase(Locale.ROOT)).matches();
    }

    /** Finds errors of copying only. */
    private static byte[] check(byte[] content) {
        try {
            return Arrays.copyOf(MessageDigest.getInstance("SHA-256").digest(content), CHECK_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }

    /** What an operator carries to the new server; as secret as the cluster's secret until it is used or expires. */
    public String text() {
        byte[] content = ByteBuffer.allocate(BYTES - CHECK_BYTES)
                .put((byte) issuer)
                .putLong(id)
                .put(key)
                .array();
        return PREFIX + HexFormat.of().formatHex(content) + HexFormat.of().formatHex(check(content));
    }

    /** The member that has made it. */
    public int issuer() {
        return issuer;
    }

    /** Its name, which is no secret. */
    public long id() {
        return id;
    }

    /** The secret part; a copy. */
    public byte[] key() {
        return key.clone();
    }

    /** Tells no key. */
    @Override
    public String toString() {
        return "join token " + HexFormat.of().toHexDigits(id);
    }
}
