package io.conclave.proofs.interop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.security.auth.login.Configuration;

/** The JAAS file of this JVM, for as long as a test runs. */
final class JaasFile implements AutoCloseable {
    private static final String PROPERTY = "java.security.auth.login.config";

    private final Path directory = ServerDirectory.create("jaas");

    /** Puts a file with these sections in force. */
    JaasFile(String sections) {
        try {
            Path file = directory.resolve("jaas.conf");
            Files.writeString(file, sections);
            System.setProperty(PROPERTY, file.toString());
            Configuration.setConfiguration(null); // the next look reads the file
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        System.clearProperty(PROPERTY);
        Configuration.setConfiguration(null);
        ServerDirectory.delete(directory);
    }
}
