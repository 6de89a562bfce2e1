package io.conclave.tls;

import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The reason for a failure, as a part of one log line. */
public final class Reasons {
    private static final int MOST_CHARACTERS = 300;
    private static final Pattern JAAS_LINE = Pattern.compile("\n\t\\p{L}+ (\\d+): ");

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

    /**
     * Why Java could not read its JAAS file. Java's own message quotes what stands in a wrong place, which may be a
     * password: only the line is taken from it. An exception with this reason must not have the failure as its cause.
     *
     * @param file as the property of the JVM names it
     */
    public static String ofJaasFile(SecurityException failure, String file) {
        String message = failure.getCause() == null
                ? ""
                : String.valueOf(failure.getCause().getMessage());
        String path = file.startsWith("=") ? file.substring(1) : file;
        if (!path.isEmpty() && message.startsWith(path + " (")) {
            return printable(message.substring(path.length() + 1));
        }
        Matcher line = JAAS_LINE.matcher(message);
        return (line.find() ? "line " + line.group(1) + " breaks its form" : "it cannot be opened, or breaks its form")
                + ": NAME { module flag option=\"value\"; }; for each section";
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
