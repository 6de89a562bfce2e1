package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.entry.EnsembleMember;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rules of the file with the cluster's secret, and the message to an operator that breaks one. */
class PeerSecretFileTest {
    private static final String SECRET = Base64.getEncoder().encodeToString(new byte[32]);

    @TempDir
    private Path directory;

    private PeerSecretFile file(int members, PeerAuthentication authentication, Optional<Path> where) {
        Map<Integer, EnsembleMember> all = new TreeMap<>();
        for (int id = 1; id <= members; id++) {
            all.put(id, new EnsembleMember(id, 0, "127.0.0.1", 20_000 + id, "", 0, false));
        }
        return PeerSecretFile.of(ServerConfig.builder()
                .dataDirectory(Optional.of(directory.resolve("log")))
                .homeDirectory(Optional.of(directory))
                .ensemble(EnsembleConfig.of(1, all).withAuthentication(authentication, where))
                .build());
    }

    private PeerSecretFile ofThree() {
        return file(3, PeerAuthentication.REQUIRED, Optional.empty());
    }

    private Path write(String permissions, String text) throws IOException {
        Path path = Files.writeString(directory.resolve("peer.secret"), text);
        return Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }

    private String refusal() {
        return String.valueOf(
                assertThrows(ServerStartException.class, () -> ofThree().read()).getMessage());
    }

    @Test
    void oneOrTwoSecretsAreRead() throws IOException {
        write("rw-------", "# ours\n\n" + SECRET + "\n");
        assertEquals("REQUIRED with 1 secrets", ofThree().read().toString());
        write("r--------", "  " + SECRET + "  \r\n" + SECRET);
        PeerSecrets two = file(3, PeerAuthentication.OPTIONAL, Optional.empty()).read();
        assertEquals("OPTIONAL with 2 secrets", two.toString());
    }

    @Test
    void fileThatOthersMayReadOrWriteIsRefusedWithTheCommandThatHelps() throws IOException {
        for (String permissions : new String[] {"rw-r-----", "rw----r--", "rw--w----", "rwxrwxrwx"}) {
            Path path = write(permissions, SECRET);
            assertEquals(
                    path + " has the permissions " + permissions
                            + ", but only its owner may read the cluster's secret: chmod 600 " + path,
                    refusal());
        }
    }

    /** Another user's file is refused also if only that one may read it, as a server that is root could. */
    @Test
    void fileOfAnotherUserIsRefused() throws IOException {
        Path path = write("rw-------", SECRET);
        int owner = (int) Files.getAttribute(path, "unix:uid");
        assertEquals(Optional.empty(), OwnersFile.otherOwner(path, OptionalInt.of(owner)));
        if (owner == 0) { // only root can give a file away
            Files.setAttribute(path, "unix:uid", 4711);
            assertTrue(refusal().contains("peer.secret belongs to user 4711 (4711), who can change it"), refusal());
            assertEquals(Optional.empty(), OwnersFile.otherOwner(path, OptionalInt.of(4711)));
        } else {
            assertTrue(OwnersFile.otherOwner(path, OptionalInt.of(owner + 1))
                    .orElseThrow()
                    .endsWith(" (" + owner + ")"));
            ofThree().read();
        }
    }

    @Test
    void anInvalidSecretIsNamedByItsLineAndNotShown() throws IOException {
        Path path = write("rw-------", "# ours\n" + Base64.getEncoder().encodeToString(new byte[31]));
        assertEquals(path + ": line 2 is a secret of 31 bytes; it must have 32 random ones or more", refusal());
        write("rw-------", "pass-word!");
        assertEquals(path + ": line 1 is not Base64", refusal());
        write("rw-------", "# nothing\n");
        assertTrue(refusal().startsWith(path + " has 0 secrets; it must have one, or two while"), refusal());
        write("rw-------", SECRET + "\n" + SECRET + "\n" + SECRET + "\n");
        assertTrue(refusal().startsWith(path + " has 3 secrets"), refusal());
        write("rw-------", "x".repeat(20_000));
        assertTrue(refusal().endsWith("is longer than 16384 bytes: not a secret file"), refusal());
        Files.delete(path);
        Files.createDirectory(path);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        assertTrue(refusal().startsWith(path + ", the cluster's secret, cannot be read: "), refusal());
    }

    @Test
    void serverWithOthersDoesNotMakeASecretByItself() {
        assertTrue(refusal().startsWith("this server has no cluster secret: " + directory.resolve("peer.secret")));
        assertFalse(Files.exists(directory.resolve("peer.secret")));
        assertSame(PeerSecrets.NONE, ofThree().readIfThere());
    }

    @Test
    void serverWithAPortForMembersAndNoOthersMakesItsSecret() throws IOException {
        PeerSecretFile alone = file(1, PeerAuthentication.REQUIRED, Optional.empty());
        assertEquals("REQUIRED with 1 secrets", alone.read().toString());
        String made = Files.readString(directory.resolve("peer.secret"));
        assertEquals("REQUIRED with 1 secrets", alone.read().toString());
        assertEquals(made, Files.readString(directory.resolve("peer.secret")));
    }

    @Test
    void serverWithoutAPortForMembersNeedsNone() {
        assertSame(
                PeerSecrets.NONE,
                file(0, PeerAuthentication.REQUIRED, Optional.empty()).read());
        assertSame(
                PeerSecrets.NONE,
                file(3, PeerAuthentication.NONE, Optional.empty()).read());
        assertFalse(Files.exists(directory.resolve("peer.secret")));
    }

    @Test
    void anotherFileCanBeNamed() {
        Path other = directory.resolve("secrets").resolve("conclave");
        PeerSecretFile named = file(3, PeerAuthentication.REQUIRED, Optional.of(other));
        assertTrue(named.makeIfMissing());
        assertEquals("REQUIRED with 1 secrets", named.read().toString());
        assertEquals(other, named.path());
    }

    @Test
    void serverInMemoryMustNameOne() {
        ServerConfig config = ServerConfig.builder()
                .ensemble(EnsembleConfig.of(1, Map.of(1, new EnsembleMember(1, 0, "127.0.0.1", 20_001, "", 0, false))))
                .build();
        ServerStartException refused = assertThrows(
                ServerStartException.class, () -> PeerSecretFile.of(config).read());
        assertEquals(
                "a server in memory that has other members needs a peerSecretFile: it has no directory for peer.secret",
                refused.getMessage());
    }
}
