package io.conclave.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
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
            Files.createDirectories(directory);
            Path temporary = Files.createTempFile(directory, FILE, ".tmp", ownersOnly());
            Files.writeString(temporary, value, StandardCharsets.US_ASCII);
            Files.move(temporary, directory.resolve(FILE), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            LOG.warn(
                    "{} cannot be written, so this server takes no commands: {}",
                    directory.resolve(FILE),
                    e.toString());
        }
    }

    private static FileAttribute<?>[] ownersOnly() {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
    }

    /**
     * The secret of the server whose dataDir this is. Blocks.
     *
     * @throws IOException if there is none, or it may not be read
     */
    public static String read(Path directory) throws IOException {
        return Files.readString(directory.resolve(FILE), StandardCharsets.US_ASCII)
                .strip();
    }
}
