package io.conclave.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an operator's command shows to this server: a user that may read its data directory may command it. A new random
 * one at each start, in the file {@code admin.secret}, for the owner's eyes only.
 */
public final class AdminSecret {
    /** The file's name, in dataDir. */
    public static final String FILE = "admin.secret";

    private static final Logger LOG = LoggerFactory.getLogger(AdminSecret.class);
    private static final int BYTES = 24;

    private final Path directory;
    private final String value;

    AdminSecret(Path directory) {
        this.directory = directory;
        byte[] random = new byte[BYTES];
        new SecureRandom().nextBytes(random);
        this.value = HexFormat.of().formatHex(random);
    }

    String value() {
        return value;
    }

    /** Writes the file. Blocks. A server that cannot do so serves, but takes no operator's commands. */
    void publish() {
        try {
            OwnersFile.write(directory.resolve(FILE), value);
        } catch (IOException e) {
            LOG.warn(
                    "{} cannot be written, so this server takes no commands: {}",
                    directory.resolve(FILE),
                    e.toString());
        }
    }

    /**
     * The secret of the server whose dataDir this is. Blocks.
     *
     * @throws IOException if there is none, or it may not be read
     */
    public static String read(Path directory) throws IOException {
        Path file = directory.resolve(FILE);
        try {
            return Files.readString(file, StandardCharsets.US_ASCII).strip();
        } catch (IOException e) {
            throw new IOException(
                    file + " cannot be read: " + e
                            + ". It proves that the server's user gives a command; run the command" + " as that user",
                    e);
        }
    }
}
