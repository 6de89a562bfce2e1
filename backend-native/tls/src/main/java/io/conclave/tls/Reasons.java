package io.conclave.tls;

import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;

/** Why something failed, in words for one line. */
final class Reasons {
    private Reasons() {}

    static String of(Throwable failure) {
        if (failure instanceof NoSuchFileException) {
            return "there is no such file";
        }
        if (failure instanceof AccessDeniedException) {
            return "this process may not read it";
        }
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message.replaceAll("\\s+", " ");
    }
}
