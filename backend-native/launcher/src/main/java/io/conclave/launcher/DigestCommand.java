package io.conclave.launcher;

import io.conclave.server.ClientAuthConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Prints the id of the scheme digest that a user has with its password, for ACLs and for superDigest. The password is
 * read from the terminal or the standard input: what stands on a command line can be read by every user of the machine.
 */
final class DigestCommand {
    private static final String ALGORITHM = "--algorithm";

    private DigestCommand() {}

    static int digest(Console console, String user, List<String> words) {
        return digest(console, user, words, System.in, terminal());
    }

    static int digest(
            Console console, String user, List<String> words, InputStream in, Optional<java.io.Console> terminal) {
        if (user.isEmpty() || user.indexOf(':') >= 0) {
            // not named: what follows a colon may be a password
            throw new IllegalArgumentException(
                    "the user must not be empty or have a colon; the password is read from the"
                            + " terminal or the standard input");
        }
        String algorithm = algorithm(words);
        ClientAuthConfig.digestId(algorithm, user, ""); // before anybody types: whether there is such a hash
        String password = terminal.map(tty -> fromTerminal(tty, user)).orElseGet(() -> fromInput(in));
        if (password.isEmpty()) {
            return console.fail(
                    "There is no password: it is read from the terminal, or is the first line of the standard"
                            + " input.");
        }
        console.say(ClientAuthConfig.digestId(algorithm, user, password));
        return Main.DONE;
    }

    private static String algorithm(List<String> words) {
        if (words.isEmpty()) {
            return ClientAuthConfig.NONE.digestHash();
        }
        if (words.size() != 2 || !words.get(0).equals(ALGORITHM)) {
            throw new IllegalArgumentException(
                    "what follows the user can be " + ALGORITHM + " NAME, such as SHA-256, and nothing else");
        }
        return words.get(1);
    }

    private static String fromTerminal(java.io.Console terminal, String user) {
        char[] first = terminal.readPassword("Password of %s: ", user);
        char[] again = terminal.readPassword("Again: ");
        if (!Arrays.equals(first, again)) {
            throw new IllegalArgumentException("the two passwords differ");
        }
        return first == null ? "" : new String(first);
    }

    private static String fromInput(InputStream in) {
        try {
            String line = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)).readLine();
            return line == null ? "" : line;
        } catch (IOException e) {
            throw new UncheckedIOException("the password cannot be read from the standard input: " + e, e);
        }
    }

    /** From Java 22 on there may be a console without a terminal, which says so by a method that 17 does not have. */
    private static Optional<java.io.Console> terminal() {
        return Optional.ofNullable(System.console()).filter(DigestCommand::isTerminal);
    }

    private static boolean isTerminal(java.io.Console console) {
        try {
            Method isTerminal = java.io.Console.class.getMethod("isTerminal");
            return Boolean.TRUE.equals(isTerminal.invoke(console));
        } catch (NoSuchMethodException e) {
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }
}
