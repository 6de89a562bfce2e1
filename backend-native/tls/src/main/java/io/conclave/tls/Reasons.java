package io.conclave.tls;

import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;

/** The reason for a failure, as a part of one log line. */
public final class Reasons {
    private static final int MOST_CHARACTERS = 300;

    private Reasons() {}

    /** Text that the other end has chosen: it must neither look like lines of the log nor fill it. */
    public static String printable(String text) {
        String shown = text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS) + "...";
        return shown.codePoints()
                .map(point -> isHarmless(point) ? point : '?')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private static boolean isHarmless(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    static String of(Throwable failure) {
        if (failure instanceof NoSuchFileException) {
            return "there is no such file";
        }
        if (failure instanceof AccessDeniedException) {
            return "this process may not read it";
        }
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : printable(message.replaceAll("\\s+", " "));
    }
}
