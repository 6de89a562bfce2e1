package io.conclave.line;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The word in a contender's znode that asks it to give up: the recipes page's protocol for revocable locks. Contenders
 * understand both words.
 *
 * <p>We write Curator's where Curator's clients may be asked, in its layout of locks, because they understand no other;
 * everywhere else the page's: in kazoo's layout, into the permits of a semaphore and to candidates of an election,
 * which Curator's own libraries have no way to ask.
 */
public final class RevocationWord {
    private static final byte[] PAGE = "unlock".getBytes(StandardCharsets.UTF_8);
    private static final byte[] CURATOR = "__REVOKE__".getBytes(StandardCharsets.UTF_8);

    private RevocationWord() {}

    /** The word of the recipes page: {@code unlock}. */
    public static byte[] bytes() {
        return PAGE.clone();
    }

    /** Curator's word, the only one that its clients understand: {@code __REVOKE__}. */
    public static byte[] curatorsBytes() {
        return CURATOR.clone();
    }

    /** Whether the data is such a word: the page's or Curator's. */
    public static boolean isIn(byte[] data) {
        return Arrays.equals(data, PAGE) || Arrays.equals(data, CURATOR);
    }
}
