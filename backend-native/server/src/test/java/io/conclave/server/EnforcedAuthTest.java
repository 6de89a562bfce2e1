package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.DigestHash;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.Perms;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a connection must prove before it may ask for anything, and with which hash. */
class EnforcedAuthTest {
    private static ConclaveServer enforcing(String hash) {
        return TestServer.start(TestServer.config()
                .clientAuth(new ClientAuthConfig(
                        hash, Set.of("digest"), false, Set.of(), Optional.empty(), false, false, false, ""))
                .superDigest(
                        Optional.of(new DigestHash(hash).idOf("admin:secret").id()))
                .build());
    }

    @Test
    void aConnectionThatHasProvedNothingIsClosedWithItsFirstRequest() throws IOException {
        try (ConclaveServer server = enforcing("SHA1")) {
            for (RequestBody request : List.of(
                    Requests.get("/"),
                    Requests.create("/a"),
                    Requests.ping(),
                    ConnectionRequest.Empty.CLOSE_SESSION,
                    new ConnectionRequest.Empty(io.conclave.protocol.OpCode.WHO_AM_I))) {
                try (RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
                    client.send(request, Requests.create("/behind"));
                    ReplyHeader refused = client.readHeader();
                    assertEquals(-124, refused.err(), request::toString);
                    assertEquals(0, refused.zxid(), "the client has seen nothing yet");
                    assertTrue(client.isClosedByServer());
                }
            }
            try (RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
                assertEquals(0, client.call(Requests.digest("bob:pw")).header().err());
                assertEquals(-101, client.call(Requests.get("/behind")).header().err());
                assertEquals(0, client.call(Requests.create("/a")).header().err());
            }
        }
    }

    @Test
    void theHashOfDigestsIsTheConfiguredOne() throws IOException {
        for (String hash : List.of("SHA-256", "SHA3-256", "SHA-512")) {
            try (ConclaveServer server = enforcing(hash);
                    RawClient owner = RawClient.attached(TestServer.port(server), 60_000);
                    RawClient other = RawClient.attached(TestServer.port(server), 60_000);
                    RawClient admin = RawClient.attached(TestServer.port(server), 60_000)) {
                owner.call(Requests.digest("bob:pw"));
                owner.call(Requests.create("/mine", List.of(new AclRecord(Perms.ALL, "auth", ""))));
                assertEquals(
                        new DigestHash(hash).idOf("bob:pw").id(),
                        owner.call(new RequestBody.GetAcl("/mine"), ReplyBody.GetAcl.class)
                                .acl()
                                .get(0)
                                .id());
                other.call(Requests.digest("bob:no"));
                assertEquals(-102, other.call(Requests.get("/mine")).header().err());
                admin.call(Requests.digest("admin:secret"));
                assertEquals(0, admin.call(Requests.get("/mine")).header().err());
            }
        }
    }

    @Test
    void aclsMayNameUsersOfSaslAndCertificates() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, createdFor(client, "/1", "sasl", "bob"));
            assertEquals(0, createdFor(client, "/2", "sasl", "bob/host@REALM"));
            assertEquals(-114, createdFor(client, "/3", "sasl", "bob@a@b"));
            assertEquals(0, createdFor(client, "/4", "x509", "CN=bob,O=x"));
            assertEquals(-114, createdFor(client, "/5", "x509", "bob"));
            assertEquals(-114, createdFor(client, "/6", "kerberos", "bob"));
            assertEquals(-102, client.call(Requests.get("/1")).header().err());
        }
    }

    private static int createdFor(RawClient client, String path, String scheme, String id) throws IOException {
        return client.call(Requests.create(path, List.of(new AclRecord(Perms.ALL, scheme, id))))
                .header()
                .err();
    }
}
