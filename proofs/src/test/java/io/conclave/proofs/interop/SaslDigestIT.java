package io.conclave.proofs.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.Map;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The official client 3.9.5 with DIGEST-MD5 on both servers, with one JAAS file for all. */
@Isolated("sets the JAAS file of the JVM")
class SaslDigestIT {
    private static final String SECTIONS = """
            Server {
              org.apache.zookeeper.server.auth.DigestLoginModule required
                user_bob="pw of bob"
                user_alice="pw of alice";
            };
            Bob {
              org.apache.zookeeper.server.auth.DigestLoginModule required username="bob" password="pw of bob";
            };
            Alice {
              org.apache.zookeeper.server.auth.DigestLoginModule required username="alice" password="pw of alice";
            };
            Impostor {
              org.apache.zookeeper.server.auth.DigestLoginModule required username="bob" password="a guess";
            };
            Unknown {
              org.apache.zookeeper.server.auth.DigestLoginModule required username="eve" password="a guess";
            };
            """;

    private final JaasFile jaas = new JaasFile(SECTIONS);
    private ServerUnderTest server;
    private SaslClients clients;

    private void open(ServerKind kind) {
        server = kind.start();
        clients = new SaslClients(server, Map.of());
    }

    @AfterEach
    void close() throws Exception {
        clients.close();
        server.close();
        jaas.close();
    }

    @ParameterizedTest
    @EnumSource
    void aUserOwnsWhatItCreates(ServerKind kind) throws Exception {
        open(kind);
        clients.assertOwns(clients.proved("Bob"), "/mine", "bob");
        assertEquals(0, clients.proved("Bob").getData("/mine", false, null).length);
        clients.assertOwns(clients.proved("Alice"), "/hers", "alice");
    }

    @ParameterizedTest
    @EnumSource
    void aWrongPasswordAndAnUnknownUserAreRefused(ServerKind kind) throws Exception {
        open(kind);
        clients.assertRefused("Impostor");
        clients.assertRefused("Unknown");
        assertEquals(0, clients.count(KeeperState.SaslAuthenticated));
    }

    @ParameterizedTest
    @EnumSource
    void aClientProvesItsIdAgainWhenItsServerComesBack(ServerKind kind) throws Exception {
        open(kind);
        ZooKeeper bob = clients.proved("Bob");
        clients.assertOwns(bob, "/mine", "bob");
        long session = bob.getSessionId();
        server.stop();
        server.start();
        await().atMost(Duration.ofSeconds(60)).until(() -> clients.count(KeeperState.SaslAuthenticated) == 2);
        assertEquals(0, bob.getData("/mine", false, null).length);
        assertEquals(session, bob.getSessionId());
    }
}
