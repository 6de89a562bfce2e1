package io.conclave.launcher;

import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.io.TempDir;

/** Runs commands in this process, on files of its own. */
abstract class CommandsFixture {
    @TempDir
    Path directory;

    final ByteArrayOutputStream output = new ByteArrayOutputStream();

    int run(Object... arguments) {
        output.reset();
        PrintStream both = new PrintStream(output, true, StandardCharsets.UTF_8);
        return Main.run(Arrays.stream(arguments).map(String::valueOf).toArray(String[]::new), both, both);
    }

    String said() {
        return output.toString(StandardCharsets.UTF_8);
    }

    Path configuration(String name) throws IOException {
        return Files.writeString(
                directory.resolve(name + ".cfg"),
                "clientPort=0\nclientPortAddress=localhost\npreAllocSize=64\ndataDir=" + directory.resolve(name)
                        + "\n");
    }

    /** A server in this process, which the commands take for one of its own. */
    static ConclaveServer start(Path file) {
        ServerConfig config = ConfigFile.read(file);
        ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), cause -> {});
        ServerFiles.of(config).publish(server.clientPort().orElseThrow());
        return server;
    }

    static void stop(ConclaveServer server, Path file) {
        server.close();
        ServerFiles.of(ConfigFile.read(file)).withdraw();
    }
}
