package io.conclave.connection;

import static org.awaitility.Awaitility.await;

import io.conclave.tree.AclEntry;
import io.conclave.tree.AuthId;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.ZnodeAcl;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a connection knows of the ACLs that its events have. */
@Timeout(300)
class EventListsTest {
    private static ZnodeAcl longList() {
        return new ZnodeAcl(IntStream.range(0, 20)
                .mapToObj(i -> new AclEntry(1, new AuthId("ip", "10.0.0." + i)))
                .toList());
    }

    /** Else a quiet connection would keep lists in memory that no znode has any more. */
    @Test
    void theListOfADeletedZnodeIsNotKept() {
        try (LoneLoop server = new LoneLoop()) {
            ClientConnection connection =
                    server.reader(1 << 20, new TestLeases()).connection();
            LoneLoop.open(connection, 1);
            WeakReference<ZnodeAcl> list = told(server, connection);
            await().atMost(Duration.ofMinutes(2)).until(() -> {
                System.gc();
                return list.get() == null;
            });
            server.loop.post(() -> connection.close("the test is over"));
            server.finishTask();
        }
    }

    private static WeakReference<ZnodeAcl> told(LoneLoop server, ClientConnection connection) {
        ZnodeAcl list = longList();
        server.loop.post(() -> connection.tell(new TreeEvent(TreeEvent.Type.DELETED, "/n", 1, list)));
        server.finishTask();
        return new WeakReference<>(list);
    }
}
