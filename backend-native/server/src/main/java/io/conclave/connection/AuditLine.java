package io.conclave.connection;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One line of the audit log, in ZooKeeper's format: {@code key=value}, with a tab between them. A value cannot begin
 * another pair or line: control characters in it are escaped. Not thread-safe.
 */
public final class AuditLine {
    /** The outcome of the request. */
    public enum Result {
        SUCCESS,
        FAILURE,
        INVOKED
    }

    /** Of one name. */
    private static final int MOST_CHARACTERS = 256;

    private final StringBuilder text = new StringBuilder(128);

    AuditLine() {}

    /** A line that begins with the pairs of another one. */
    AuditLine(AuditLine beginning) {
        text.append(beginning.text);
    }

    /** A line of the server itself, such as that of its start. */
    public static AuditLine ofServer(String operation, Result result) {
        return new AuditLine()
                .with("user", serverUser())
                .with("operation", operation)
                .end(result);
    }

    static String serverUser() {
        return System.getProperty("user.name", "");
    }

    /** Adds a pair, unless there is no value. */
    AuditLine with(String key, @Nullable String value) {
        if (value != null) {
            if (text.length() > 0) {
                text.append('\t');
            }
            text.append(key).append('=');
            text.append(escaped(value));
        }
        return this;
    }

    /** A name that a client chose, or less of it with its length behind: a list of names shows each. */
    public static String cut(String value) {
        if (value.length() <= MOST_CHARACTERS) {
            return value;
        }
        int end = Character.isHighSurrogate(value.charAt(MOST_CHARACTERS - 1)) ? MOST_CHARACTERS - 1 : MOST_CHARACTERS;
        return value.substring(0, end) + "...(" + value.length() + " characters)";
    }

    /** Adds the last pair. */
    AuditLine end(Result result) {
        return with("result", result.name().toLowerCase(Locale.ROOT));
    }

    /**
     * A value that a client chose, made safe for one line: control characters, line separators, marks that are not seen
     * and backslashes are escaped.
     */
    public static String escaped(String value) {
        StringBuilder safe = new StringBuilder(value.length());
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '\\' -> safe.append("\\\\");
                case '\t' -> safe.append("\\t");
                case '\n' -> safe.append("\\n");
                case '\r' -> safe.append("\\r");
                default -> {
                    if (Character.isISOControl(c) || isInvisible(c)) {
                        safe.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    } else {
                        safe.append(c);
                    }
                }
            }
        }
        return safe.toString();
    }

    /** Separates lines, or turns the direction of what follows, and is not seen itself. */
    private static boolean isInvisible(char c) {
        return switch (Character.getType(c)) {
            case Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
