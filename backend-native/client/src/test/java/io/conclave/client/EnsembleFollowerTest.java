package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.request.GetData;
import io.conclave.session.SessionState;
import io.conclave.spi.ConnectString.Endpoint;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The client learns from the ensemble where its members serve, and goes there when it must. */
final class EnsembleFollowerTest extends WireSessionFixture {
    private static FakeServer.Script servesWith(String members) {
        return peer -> {
            peer.members = members;
            openAndServe(peer);
        };
    }

    private static String memberAt(FakeServer server) {
        return "server.3=other.example:2888:3888:participant;" + server.endpoint() + "\nversion=100000000";
    }

    @Test
    void sessionGoesToAServerThatOnlyTheEnsembleHasNamed() {
        FakeServer newcomer = server(servesWith(""));
        FakeServer first = server(servesWith(memberAt(newcomer)));
        FakeServer second = server(servesWith(memberAt(newcomer)));
        TestSession session = session("conclave://" + first.endpoint() + "," + second.endpoint(), TimeSource.system());
        session.awaitState(SessionState.CONNECTED);
        Awaitility.await().until(() -> first.membersAsked() + second.membersAsked() > 0);
        session.call(GetData.of(A)); // its answer comes after the members

        first.close();
        second.close();
        Awaitility.await().until(() -> newcomer.accepted() > 0);

        session.call(GetData.of(A));
        assertFalse(session.states.contains(SessionState.LOST));
    }

    @Test
    void oneAddressAloneIsTheOnlyOneThatIsUsed() {
        FakeServer newcomer = server(servesWith(""));
        FakeServer only = server(
                peer -> {
                    peer.members = memberAt(newcomer);
                    peer.open(TIMEOUT_MS);
                },
                servesWith(memberAt(newcomer)));
        TestSession session = session(only.url(), TimeSource.system());

        Awaitility.await().until(() -> only.accepted() > 1);
        session.awaitState(SessionState.CONNECTED);

        assertEquals(0, newcomer.accepted());
    }

    @Test
    void theEnsembleIsAskedAgainAsTimeGoesOn() {
        ManualTimeSource time = new ManualTimeSource();
        FakeServer.Script script = peer -> {
            peer.open(600_000); // looked after every 200 s
            serve(peer);
        };
        FakeServer first = server(script);
        FakeServer second = server(script);
        TestSession session = session("conclave://" + first.endpoint() + "," + second.endpoint(), time);
        session.awaitState(SessionState.CONNECTED);

        for (int passed = 0; passed < 450_000; passed += STEP_MS) {
            pass(time, session);
        }
        assertEquals(3, first.membersAsked() + second.membersAsked());
    }

    @Test
    void addressesForClientsAreReadFromEveryFormThatServersWrite() {
        String config = """
                server.1=zk1.example:2888:3888:participant;0.0.0.0:2181
                server.2=zk2.example:2888:3888:participant;10.0.0.2:2182
                server.3=[2001:db8::3]:2888:3888:observer;[::]:2183
                server.4=zk4.example:2888:3888:participant;2184
                server.5=zk5.example:2888:3888:participant
                server.6=zk6.example:2888:3888:participant;0.0.0.0:99999
                server.7=zk7.example:2888:0:participant;[2001:db8::7]:2187
                weight.1=1
                version=100000003""";

        assertEquals(
                List.of(
                        new Endpoint("zk1.example", 2181),
                        new Endpoint("10.0.0.2", 2182),
                        new Endpoint("2001:db8::3", 2183),
                        new Endpoint("zk4.example", 2184),
                        new Endpoint("2001:db8::7", 2187)),
                EnsembleFollower.parse(config));
    }

    @Test
    void textThatIsNoMemberListNamesNoServer() {
        assertEquals(List.of(), EnsembleFollower.parse(""));
        assertEquals(List.of(), EnsembleFollower.parse("version=0\nserver.x=;\nserver.1=\nserver.2=a:1;:\n\u0000"));
    }
}
