package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigFileTest {
    @TempDir
    private Path directory;

    private ServerConfig read(String text) throws IOException {
        Path file = directory.resolve("zoo.cfg");
        Files.writeString(file, text);
        return ConfigFile.read(file);
    }

    @Test
    void allKeysAreRead() throws IOException {
        ServerConfig config = read("""
                # a comment
                ! another
                  clientPort = 0

                clientPortAddress=localhost
                dataDir=data
                dataLogDir=log
                tickTime=100
                maxClientCnxns=7
                maxCnxns=70
                minSessionTimeout=50
                maxSessionTimeout=5000
                snapCount=1000
                autopurge.snapRetainCount=4
                autopurge.purgeInterval=1
                preAllocSize=16384
                znode.container.checkIntervalMs=123
                """);
        assertEquals(Optional.of(0), config.clientPort());
        assertEquals(Optional.of("localhost"), config.clientPortAddress());
        assertEquals(Optional.of(Path.of("log")), config.dataDirectory());
        assertEquals(100, config.tickTimeMs());
        assertEquals(7, config.maxConnectionsPerAddress());
        assertEquals(70, config.maxConnections());
        assertEquals(50, config.minSessionTimeoutMs());
        assertEquals(5000, config.maxSessionTimeoutMs());
        assertEquals(1000, config.snapshotEveryEntries());
        assertEquals(4, config.snapshotsKept());
        assertEquals(16 << 20, config.segmentBytes());
        assertEquals(123, config.containerCheckIntervalMs());
    }

    @Test
    void defaultsAreZooKeepers() throws IOException {
        ServerConfig config = read("clientPort=2181\ndataDir=data\nminSessionTimeout=-1\n");
        assertEquals(Optional.of(Path.of("data")), config.dataDirectory());
        assertEquals(4000, config.minSessionTimeoutMs());
        assertEquals(40_000, config.maxSessionTimeoutMs());
        assertEquals(60, config.maxConnectionsPerAddress());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "clientPort=70000                    | line 3: key clientPort: \"70000\" is not a whole number from 0 to",
                "clientPort=abc                      | line 3: key clientPort: \"abc\" is not a whole number",
                "clientPort=                         | line 3: key clientPort has no value",
                "tickTime=0                          | line 3: key tickTime: \"0\" is not a whole number from 1",
                "tickTime=99999999999                | line 3: key tickTime: \"99999999999\" is not a whole number",
                "maxClientCnxns=-1                   | line 3: key maxClientCnxns",
                "minSessionTimeout=0                 | line 3: key minSessionTimeout: 0 is not a timeout",
                "snapCount=1                         | line 3: key snapCount",
                "autopurge.snapRetainCount=1         | line 3: key autopurge.snapRetainCount",
                "preAllocSize=100                    | line 3: key preAllocSize",
                "dataDirr=x                          | line 3: key dataDirr is unknown",
                "just words                          | line 3: \"just words\" is not of the form key=value",
                "=value                              | line 3: \"=value\" is not of the form key=value",
                "server.1=a:2888:3888                | line 3: key server.1 is for an ensemble",
                "initLimit=10                        | line 3: key initLimit is for an ensemble",
                "weight.1=2                          | line 3: key weight.1 is for an ensemble",
                "snapCount=1000\\nsnapCount=2000     | line 4: key snapCount is already set in line 3",
                "minSessionTimeout=9\\nmaxSessionTimeout=8 | minSessionTimeout 9 ms must not be above maxSessionTimeout 8",
            })
    void aBadLineIsNamedWithFileLineAndKey(String line, String expected) {
        String head = line.startsWith("clientPort") ? "tickTime=100\n" : "clientPort=0\n";
        ConfigException refused = assertThrows(
                ConfigException.class, () -> read("# first\n" + head + line.replace("\\n", "\n") + "\ndataDir=d\n"));
        assertTrue(refused.getMessage().contains("zoo.cfg"), refused.getMessage());
        assertTrue(refused.getMessage().contains(expected), refused.getMessage());
    }

    @Test
    void whatIsMissingIsNamed() {
        assertTrue(assertThrows(ConfigException.class, () -> read("dataDir=d\n"))
                .getMessage()
                .contains("the key clientPort is missing"));
        assertTrue(assertThrows(ConfigException.class, () -> read("clientPort=0\n"))
                .getMessage()
                .contains("the key dataDir is missing"));
        assertTrue(assertThrows(ConfigException.class, () -> ConfigFile.read(directory.resolve("nowhere")))
                .getMessage()
                .contains("nowhere"));
    }

    @Test
    void aDataDirectoryThatIsAFileIsRefused() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "x");
        assertTrue(assertThrows(ConfigException.class, () -> read("clientPort=0\ndataDir=" + file + "\n"))
                .getMessage()
                .contains("line 2: key dataDir: " + file + " is not a directory"));
    }
}
