package io.conclave.junit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What tests on servers are given, and what is undone after each. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ServersParametersTest {
    @RegisterExtension
    static final ConclaveExtension CONCLAVE = ConclaveExtension.builder()
            .servers(3)
            .coordinators(coordinator -> coordinator.sessionTimeout(Duration.ofSeconds(8)))
            .ensemble(servers -> servers.tickTimeMs(50))
            .build();

    @Test
    void oneCoordinatorIsCutOff(Coordinator one, Coordinator other, ConclaveFaults faults) throws InterruptedException {
        faults.cutOff(one);
        await().until(() -> one.state() != SessionState.CONNECTED);
        other.execute(Create.of(NodePath.of("/cut")));
        faults.reconnect(one);
        await().until(() -> one.state() == SessionState.CONNECTED);
    }

    @Test
    void nextReplyIsLost(Coordinator one, Coordinator other, ConclaveFaults faults) throws InterruptedException {
        NodePath path = NodePath.of("/lost-reply");
        OutcomeUnknownException unknown = assertThrows(OutcomeUnknownException.class, () -> {
            for (int i = 0; i < 100; i++) { // the answer to a heartbeat may have been lost in its place
                faults.loseNextReply(one);
                one.execute(Create.of(path.child("" + i)));
            }
        });
        assertTrue(unknown.getMessage().contains("/lost-reply/"), unknown.getMessage());
        await().until(() -> one.state() == SessionState.CONNECTED);
        assertEquals(SessionState.CONNECTED, other.state());
    }

    @Test
    void sessionEnds(Coordinator one, Coordinator other, ConclaveFaults faults) throws InterruptedException {
        LockGrant lost = DistributedLock.at(one, "/ended").acquire();
        faults.endSession(one);
        assertTrue(!lost.isHeld());
        DistributedLock.at(other, "/ended").acquire().close();
        one.execute(Exists.of(NodePath.of("/ended")));
    }

    @Test
    @Order(1)
    void testLeavesTheServersBroken(ConclaveEnsemble ensemble, Coordinator cutOff, ConclaveFaults faults) {
        assertEquals(Set.of(1, 2, 3), ensemble.ids());
        faults.cutOff(cutOff);
        int leader = ensemble.awaitLeader();
        ensemble.kill(leader);
        ensemble.pause(ensemble.follower());
    }

    @Test
    @Order(2)
    void nextTestFindsThemWhole(ConclaveEnsemble ensemble, Coordinator coordinator, String connectString) {
        ensemble.ids().forEach(id -> assertTrue(ensemble.server(id).isServing()));
        assertEquals(ensemble.connectString(), connectString);
        assertEquals(SessionState.CONNECTED, coordinator.state());
    }
}
