package io.conclave.proofs.campaign;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.Member;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;

/** A quota on the znodes of a {@link CampaignRound}, and what each server says of it. */
final class QuotaOfLoad {
    private static final String TOP = "/campaign-1";
    private static final String QUOTA = "/zookeeper/quota" + TOP;
    private static final String STATS = QUOTA + "/zookeeper_stats";

    private QuotaOfLoad() {}

    private interface Use<T> {
        T of(ZooKeeper zk) throws Exception;
    }

    private static <T> T with(String hostPorts, Use<T> use) throws Exception {
        try (ZooKeeper zk = new ZooKeeper(hostPorts, 30_000, event -> {})) {
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> zk.getState()
                    .isConnected());
            return use.of(zk);
        }
    }

    /** As {@code setquota} does. */
    static void make(Ensemble ensemble) throws Exception {
        with(ensemble.hostPorts(), zk -> {
            zk.create(QUOTA, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            create(zk, QUOTA + "/zookeeper_limits", "count=-1,bytes=-1");
            return create(zk, STATS, "count=0,bytes=0");
        });
    }

    private static String create(ZooKeeper zk, String path, String data) throws Exception {
        return zk.create(path, data.getBytes(UTF_8), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    /** What a server takes for used. */
    static String usage(Member member) throws Exception {
        return with(member.hostPort(), QuotaOfLoad::usage);
    }

    private static String usage(ZooKeeper zk) throws Exception {
        CountDownLatch synced = new CountDownLatch(1);
        zk.sync("/", (error, path, context) -> synced.countDown(), null);
        synced.await();
        return new String(zk.getData(STATS, false, null), UTF_8);
    }

    /** Until a server takes for used what a walk over its znodes finds; sessions may still end. */
    static void awaitRightUsage(Member member) throws Exception {
        with(member.hostPort(), zk -> {
            Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertEquals(counted(zk), usage(zk)));
            return "";
        });
    }

    private static String counted(ZooKeeper zk) throws Exception {
        long[] sums = new long[2];
        count(zk, TOP, sums);
        return "count=" + sums[0] + ",bytes=" + sums[1];
    }

    private static void count(ZooKeeper zk, String path, long[] sums) throws Exception {
        try {
            Stat stat = new Stat();
            zk.getData(path, false, stat);
            sums[0]++;
            sums[1] += stat.getDataLength();
            for (String child : zk.getChildren(path, false)) {
                count(zk, path + "/" + child, sums);
            }
        } catch (KeeperException.NoNodeException gone) {
            // the next count is right
        }
    }
}
