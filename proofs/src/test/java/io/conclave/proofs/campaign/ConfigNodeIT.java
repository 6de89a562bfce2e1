package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException.NoAuthException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What ZooKeeper's client finds in {@code /zookeeper/config}. */
class ConfigNodeIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path home;

    @Test
    @Timeout(300)
    void zooKeepersClientReadsAndWatchesTheMembers() throws Exception {
        BlockingQueue<WatchedEvent> changes = new LinkedBlockingQueue<>();
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                .ticks(500, 20, 10)
                .withSmallJvms()
                .start()) {
            Member leader = ensemble.awaitAllServing();
            Member leaving = ensemble.others(leader).get(0);
            try (ZooKeeper client = connect(leader)) {
                Awaitility.await("three voters").atMost(PATIENCE).until(() -> members(client.getConfig(false, null))
                        .getVotingMembers()
                        .keySet()
                        .equals(Set.of(1L, 2L, 3L)));
                assertEquals(ZooDefs.Ids.READ_ACL_UNSAFE, client.getACL(ZooDefs.CONFIG_NODE, new Stat()));
                assertThrows(NoAuthException.class, () -> client.setData(ZooDefs.CONFIG_NODE, new byte[0], -1));

                Stat stat = new Stat();
                byte[] before = client.getConfig(changes::add, stat);
                assertEquals(stat.getMzxid(), members(before).getVersion(), "version= is the zxid of the change");
                leader.command("remove", Integer.toString(leaving.number()));
                WatchedEvent change = changes.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertEquals(EventType.NodeDataChanged, change == null ? null : change.getType());
                Awaitility.await("two voters").atMost(PATIENCE).until(() -> members(client.getConfig(false, null))
                        .getVotingMembers()
                        .keySet()
                        .equals(Set.of((long) leader.number(), (long) otherThan(leader, leaving))));
                client.getConfig(false, stat);
                assertTrue(stat.getMzxid() > members(before).getVersion());
            }
        }
    }

    private static int otherThan(Member one, Member another) {
        return 6 - one.number() - another.number();
    }

    /** By the parser of ZooKeeper's servers and of Curator. */
    private static QuorumMaj members(byte[] data) throws Exception {
        Properties properties = new Properties();
        properties.load(new StringReader(new String(data, StandardCharsets.UTF_8)));
        return new QuorumMaj(properties);
    }

    private static ZooKeeper connect(Member member) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(member.hostPort(), 20_000, event -> connected.countDown());
        assertTrue(connected.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        return client;
    }
}
