package io.conclave.proofs.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.interop.ApacheZooKeeper;
import io.conclave.proofs.interop.ServerUnderTest;
import io.conclave.proofs.interop.StandaloneConclave;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.cli.CliCommand;
import org.apache.zookeeper.cli.CliException;
import org.apache.zookeeper.cli.DelQuotaCommand;
import org.apache.zookeeper.cli.ListQuotaCommand;
import org.apache.zookeeper.cli.SetQuotaCommand;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The same random writes, and the same commands of zkCli about quotas, on our server and on Apache ZooKeeper, both with
 * {@code enforceQuota}: the same errors, and the same text of what is used after each.
 */
@Tag("proof")
class QuotaDifferentialIT {
    private static final List<String> TOPS = List.of("/a", "/b", "/a/x");
    private static final List<String> LIMITS = List.of("-n", "-b", "-N", "-B");

    private final long seed = Long.getLong("differential.seed", new Random().nextLong());
    private final int operations = Integer.getInteger("differential.operations", 1500);
    private final Random random = new Random(seed);

    /** What is done to both servers; says what became of it. */
    private interface Step {
        String on(Subject subject) throws Exception;
    }

    /** A server with a client, and another client whose session comes and goes. */
    private static final class Subject implements AutoCloseable {
        private final ServerUnderTest server;
        private final ZooKeeper zk;
        private ZooKeeper brief;

        Subject(ServerUnderTest server) throws Exception {
            this.server = server;
            zk = connect();
            brief = connect();
        }

        private ZooKeeper connect() throws Exception {
            ZooKeeper client = new ZooKeeper(server.hostPort(), 10_000, event -> {});
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> client.getState()
                    .isConnected());
            return client;
        }

        void endBriefSession() throws Exception {
            brief.close();
            brief = connect();
        }

        String command(CliCommand command, List<String> arguments) throws Exception {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            PrintStream out = new PrintStream(text, true, StandardCharsets.UTF_8);
            command.setZk(zk);
            command.setOut(out);
            command.setErr(out);
            try {
                command.parse(arguments.toArray(String[]::new)).exec();
            } catch (CliException e) {
                out.println(e.getMessage());
            }
            return text.toString(StandardCharsets.UTF_8);
        }

        String usage() throws Exception {
            StringBuilder text = new StringBuilder();
            for (String top : TOPS) {
                for (String name : List.of("/zookeeper_limits", "/zookeeper_stats")) {
                    text.append(top).append(name).append(' ').append(data("/zookeeper/quota" + top + name));
                }
            }
            return text.toString();
        }

        private String data(String path) throws Exception {
            try {
                return new String(zk.getData(path, false, null), StandardCharsets.UTF_8) + '\n';
            } catch (KeeperException.NoNodeException e) {
                return "none\n";
            }
        }

        @Override
        public void close() throws Exception {
            zk.close();
            brief.close();
        }
    }

    @Test
    void bothServersCountAndRefuseTheSame() throws Exception {
        System.out.println("differential.seed=" + seed);
        List<String> story = new ArrayList<>();
        try (StandaloneConclave conclave = new StandaloneConclave(3_600_000, true);
                ApacheZooKeeper zooKeeper = new ApacheZooKeeper();
                Subject ours = new Subject(conclave);
                Subject theirs = new Subject(zooKeeper)) {
            assertTrue(ZooKeeperServer.enforceQuota, "ZooKeeper's class was loaded before its property was set");
            int refused = 0;
            for (int i = 0; i < operations; i++) {
                Step step = next(story);
                String outcome = outcome(step, theirs);
                String last = "seed " + seed + " " + story.subList(Math.max(0, story.size() - 30), story.size());
                assertEquals(outcome, outcome(step, ours), last);
                assertEquals(theirs.usage(), ours.usage(), last);
                refused += outcome.contains("QUOTAEXCEEDED") ? 1 : 0;
            }
            assertTrue(refused > operations / 200, "only " + refused + " were refused, seed " + seed);
        }
    }

    private static String outcome(Step step, Subject subject) throws Exception {
        try {
            return step.on(subject);
        } catch (KeeperException e) {
            return e.code().name();
        }
    }

    private Step next(List<String> story) {
        String path = path();
        byte[] data = new byte[random.nextInt(6)];
        String what = path + " " + data.length;
        int dice = random.nextInt(100);
        if (dice < 45) {
            CreateMode mode = random.nextInt(4) == 0 ? CreateMode.EPHEMERAL : CreateMode.PERSISTENT;
            story.add("create " + mode + " " + what);
            return subject ->
                    (mode.isEphemeral() ? subject.brief : subject.zk).create(path, data, Ids.OPEN_ACL_UNSAFE, mode);
        } else if (dice < 60) {
            story.add("delete " + path);
            return subject -> {
                subject.zk.delete(path, -1);
                return "";
            };
        } else if (dice < 75) {
            story.add("set " + what);
            return subject -> {
                subject.zk.setData(path, data, -1);
                return "";
            };
        } else if (dice < 82) {
            // one part below a quota: theirs does not see what the others do
            String free = "/free" + random.nextInt(10);
            story.add("multi " + free + " " + what);
            return subject -> {
                List<Op> parts = List.of(
                        Op.create(free, data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                        Op.create(path, data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                        Op.delete(free, -1));
                subject.zk.multi(parts);
                return "";
            };
        } else if (dice < 86) {
            story.add("end of the session");
            return subject -> {
                subject.endBriefSession();
                return "";
            };
        }
        return command(dice, story);
    }

    private Step command(int dice, List<String> story) {
        String top = TOPS.get(random.nextInt(TOPS.size()));
        String limit = LIMITS.get(random.nextInt(LIMITS.size()));
        String value = Integer.toString(1 + random.nextInt(8));
        if (dice < 94) {
            story.add("setquota " + limit + " " + value + " " + top);
            return subject -> subject.command(new SetQuotaCommand(), List.of("setquota", limit, value, top));
        } else if (dice < 97) {
            List<String> arguments = random.nextBoolean() ? List.of("delquota", top) : List.of("delquota", limit, top);
            story.add(arguments.toString());
            return subject -> subject.command(new DelQuotaCommand(), arguments);
        }
        story.add("listquota " + top);
        return subject -> subject.command(new ListQuotaCommand(), List.of("listquota", top));
    }

    private String path() {
        StringBuilder path = new StringBuilder();
        for (int depth = random.nextInt(3); depth >= 0; depth--) {
            path.append('/').append(List.of("a", "b", "x").get(random.nextInt(3)));
        }
        return path.toString();
    }
}
