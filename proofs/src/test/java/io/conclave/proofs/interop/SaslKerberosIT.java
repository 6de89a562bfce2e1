package io.conclave.proofs.interop;

import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The official client 3.9.5 with GSSAPI on both servers, and a KDC in this JVM. */
@Isolated("sets the JAAS file and the realm of the JVM")
class SaslKerberosIT {
    private static final String SERVICE = "zookeeper/localhost";
    private static final String USERS =
            "org.apache.zookeeper.server.auth.DigestLoginModule required user_carol=\"pw of carol\";";

    private final KerberosRealm realm = new KerberosRealm();
    private JaasFile jaas;
    private ServerUnderTest server;
    private SaslClients clients;

    private void open(ServerKind kind, String users) {
        jaas = new JaasFile("Server { " + users + realm.module(SERVICE, realm.keytab(SERVICE), false) + " };\n"
                + "Bob { " + realm.module("bob", realm.keytab("bob"), true) + " };\n"
                + "Host { " + realm.module("job/host1", realm.keytab("job/host1"), true) + " };\n"
                + "Carol { org.apache.zookeeper.server.auth.DigestLoginModule required"
                + " username=\"carol\" password=\"pw of carol\"; };\n");
        server = kind.start();
        clients = new SaslClients(server, Map.of("zookeeper.server.principal", SERVICE + "@" + KerberosRealm.NAME));
    }

    @AfterEach
    void close() throws Exception {
        clients.close();
        server.close();
        jaas.close();
        realm.close();
    }

    @ParameterizedTest
    @EnumSource
    void aPrincipalOwnsWhatItCreates(ServerKind kind) throws Exception {
        open(kind, "");
        clients.assertOwns(clients.proved("Bob"), "/mine", "bob@" + KerberosRealm.NAME);
        clients.assertOwns(clients.proved("Host"), "/jobs", "job/host1@" + KerberosRealm.NAME);
    }

    @Test
    void ourServerTakesPasswordsAndTicketsAtOnce() throws Exception {
        open(ServerKind.CONCLAVE, USERS);
        clients.assertOwns(clients.proved("Bob"), "/bob", "bob@" + KerberosRealm.NAME);
        clients.assertOwns(clients.proved("Carol"), "/carol", "carol");
    }
}
