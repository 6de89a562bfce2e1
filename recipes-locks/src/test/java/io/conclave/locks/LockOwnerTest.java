package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.SessionGoneException;
import io.conclave.node.NodeStat;
import io.conclave.request.Create;
import io.conclave.request.Request;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.ForwardingSession;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LockOwnerTest {
    @RegisterExtension
    final TestStore store = new TestStore();

    /**
     * Every ephemeral znode seems to belong to another session, as when the znode of a dying session is taken for one's
     * own.
     */
    private static final class ForeignOwnerSession extends ForwardingSession {
        ForeignOwnerSession(BackendSession sound) {
            super(sound);
        }

        @Override
        @SuppressWarnings("unchecked")
        public <R> CompletionStage<R> submit(Request<R> request) {
            return super.submit(request)
                    .thenApply(answer -> answer instanceof Create.Created created
                            ? (R) new Create.Created(created.path(), ofAnother(created.stat()))
                            : answer);
        }

        private static NodeStat ofAnother(NodeStat stat) {
            long owner = stat.isEphemeral() ? stat.ephemeralOwner() + 1 : 0;
            return new NodeStat(
                    stat.czxid(),
                    stat.mzxid(),
                    stat.pzxid(),
                    stat.ctimeMs(),
                    stat.mtimeMs(),
                    stat.version(),
                    stat.cversion(),
                    stat.aversion(),
                    owner,
                    stat.dataLength(),
                    stat.numChildren());
        }
    }

    @Test
    void znodeOfAnotherSessionIsNeverAGrant() {
        ManualTimeSource process = new ManualTimeSource();
        store.faults().plant(process, ForeignOwnerSession::new);
        DistributedLock lock = DistributedLock.at(store.connect(process), "/locks/owner");
        SessionGoneException refusal =
                assertThrows(SessionGoneException.class, () -> lock.acquire(Duration.ofSeconds(10)));
        assertTrue(refusal.getMessage().contains("belongs to the session"), refusal::getMessage);
    }
}
