package io.conclave.tree;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rules of the tree written down once more, as simply as they can be: a sorted map from paths to mutable nodes,
 * everything copied before each change and put back if it fails.
 */
final class NaiveTree {
    private static final class Node {
        byte[] data;
        ZnodeAcl acl;
        long czxid;
        long mzxid;
        long pzxid;
        long ctime;
        long mtime;
        int version;
        int creations;
        int aversion;
        long session;
        boolean container;
        long ttlMs;

        Node copy() {
            Node copy = new Node();
            copy.data = data;
            copy.acl = acl;
            copy.czxid = czxid;
            copy.mzxid = mzxid;
            copy.pzxid = pzxid;
            copy.ctime = ctime;
            copy.mtime = mtime;
            copy.version = version;
            copy.creations = creations;
            copy.aversion = aversion;
            copy.session = session;
            copy.container = container;
            copy.ttlMs = ttlMs;
            return copy;
        }
    }

    private record Session(SessionPassword password, int timeoutMs, long attachment, long suspicion) {}

    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;
        final int code;

        Refused(int code) {
            this.code = code;
        }
    }

    private static final String LIMITS = "/zookeeper_limits";
    private static final String STATS = "/zookeeper_stats";

    private Map<String, Node> nodes = new TreeMap<>();
    private final Map<Long, Session> sessions = new HashMap<>();
    private long zxid;
    private long term;
    private long timeMs;
    private int level;

    NaiveTree() {
        for (String path : List.of("/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config")) {
            Node node = new Node();
            node.data = new byte[0];
            node.acl = ZnodeAcl.OPEN;
            nodes.put(path, node);
        }
        nodes.get("/zookeeper/config").acl = ZnodeAcl.READ_ONLY;
        nodes.get("/zookeeper/config").aversion = -1;
    }

    /** A line on what became of the change: the code of the error or the paths and Stats. */
    String apply(Change change, long newZxid, long newTimeMs) {
        zxid = newZxid;
        timeMs = newTimeMs;
        Map<String, Node> before = new TreeMap<>();
        nodes.forEach((path, node) -> before.put(path, node.copy()));
        try {
            return step(change);
        } catch (Refused refused) {
            nodes = before;
            return Integer.toString(refused.code);
        }
    }

    private String step(Change change) throws Refused {
        if (change instanceof Change.OpenSession open) {
            refuseIf(sessions.containsKey(open.id()), -8);
            sessions.put(open.id(), new Session(open.password(), open.timeoutMs(), zxid, 0));
        } else if (change instanceof Change.ResumeSession resume) {
            Session session = sessions.get(resume.id());
            refuseIf(session == null || !session.password.equals(resume.password()), -112);
            sessions.put(
                    resume.id(),
                    new Session(resume.password(), Math.max(session.timeoutMs, resume.timeoutMs()), zxid, 0));
        } else if (change instanceof Change.CloseSession close) {
            refuseIf(!sessions.containsKey(close.id()), -112);
            refuseIf(close.attachment() != 0 && sessions.get(close.id()).attachment != close.attachment(), -118);
            end(close.id());
        } else if (change instanceof Change.SuspectSession suspect) {
            Session session = sessions.get(suspect.id());
            boolean here = session != null && session.attachment == suspect.attachment();
            refuseIf(here && suspect.term() != 0 && suspect.term() != term, -118);
            mark(suspect.id(), suspect.attachment(), zxid);
        } else if (change instanceof Change.KeepSession keep) {
            mark(keep.id(), keep.attachment(), 0);
        } else if (change instanceof Change.ExpireSession expire) {
            Session session = sessions.get(expire.id());
            refuseIf(session == null, -112);
            refuseIf(session.suspicion == 0 || session.suspicion != expire.suspicion(), -118);
            refuseIf(expire.term() != term, -118);
            end(expire.id());
        } else if (change instanceof Change.NewTerm newTerm) {
            term = Math.max(term, newTerm.term());
        } else if (change instanceof Change.RaiseFeatureLevel raise) {
            boolean countsFromHere = level < 4 && raise.level() >= 4;
            level = Math.max(level, raise.level());
            for (String path : countsFromHere ? List.copyOf(nodes.keySet()) : List.<String>of()) {
                if (path.endsWith(STATS) && nodes.containsKey(path.replace(STATS, LIMITS))) {
                    countFrom(path);
                }
            }
        } else if (change instanceof Change.DeleteContainer delete) {
            delete(delete.path(), -1, List.of(AuthId.SUPER), delete);
        } else if (change instanceof Change.Request request) {
            refuseIf(!sessions.containsKey(request.sessionId()), -112);
            mark(request.sessionId(), request.attachment(), 0);
            return request.operation() instanceof TreeOperation.Multi multi
                    ? multi(multi, request)
                    : single(request.operation(), request);
        }
        return "ok";
    }

    private void mark(long id, long attachment, long suspicion) throws Refused {
        Session session = sessions.get(id);
        refuseIf(session == null, -112);
        refuseIf(session.attachment != attachment, -118);
        sessions.put(id, new Session(session.password, session.timeoutMs, attachment, suspicion));
    }

    private void end(long session) {
        sessions.remove(session);
        Map<String, long[]> freed = new HashMap<>();
        for (String path : new ArrayList<>(nodes.keySet())) {
            if (nodes.get(path).session == session && topOf(path) != null) {
                long[] sums = freed.computeIfAbsent(topOf(path), top -> new long[2]);
                sums[0]--;
                sums[1] -= length(nodes.get(path).data);
            }
        }
        for (String path : new ArrayList<>(nodes.keySet())) {
            if (nodes.get(path).session == session) {
                nodes.remove(path);
                nodes.get(parent(path)).pzxid = zxid;
            }
        }
        freed.forEach((top, sums) -> usedOf(top, sums[0], sums[1]));
    }

    private String multi(TreeOperation.Multi multi, Change.Request request) throws Refused {
        List<String> results = new ArrayList<>();
        for (TreeOperation part : multi.parts()) {
            results.add(single(part, request));
        }
        return results.toString();
    }

    private String single(TreeOperation operation, Change.Request request) throws Refused {
        List<AuthId> ids = request.authIds();
        if (operation instanceof TreeOperation.Create create) {
            return create(create, request, ids);
        }
        if (operation instanceof TreeOperation.Delete delete) {
            return delete(delete.path(), delete.version(), ids, null);
        }
        if (operation instanceof TreeOperation.SetData set) {
            validate(set.path());
            Node node = node(set.path());
            refuseIf(!permits(node.acl, ids, 2), -102);
            int more = length(set.data()) - length(node.data);
            refuseIf(request.enforcesQuotas() && isBeyondHardLimit(set.path(), 0, more), -125);
            refuseIf(set.version() != -1 && set.version() != node.version, -103);
            node.data = set.data();
            used(set.path(), 0, more);
            node.version++;
            node.mzxid = zxid;
            node.mtime = timeMs;
            return stat(set.path());
        }
        if (operation instanceof TreeOperation.SetAcl set) {
            validate(set.path());
            ZnodeAcl acl = resolve(set.acl(), ids);
            Node node = node(set.path());
            refuseIf(!permits(node.acl, ids, 16), -102);
            refuseIf(set.version() != -1 && set.version() != node.aversion, -103);
            node.acl = acl;
            node.aversion++;
            return stat(set.path());
        }
        TreeOperation.Check check = (TreeOperation.Check) operation;
        validate(check.path());
        Node node = node(check.path());
        refuseIf(!permits(node.acl, ids, 1), -102);
        refuseIf(check.version() != -1 && check.version() != node.version, -103);
        return "ok";
    }

    private String create(TreeOperation.Create create, Change.Request request, List<AuthId> ids) throws Refused {
        refuseIf(!create.path().contains("/"), -8);
        ZnodeAcl acl = resolve(create.acl(), ids);
        Node parent = node(parent(create.path()));
        refuseIf(!permits(parent.acl, ids, 4), -102);
        String path = create.path();
        if (create.mode().name().contains("SEQUENTIAL")) {
            path += String.format(Locale.ROOT, "%010d", parent.creations);
        }
        validate(path);
        refuseIf(nodes.containsKey(path), -110);
        refuseIf(parent.session != 0, -108);
        refuseIf(request.enforcesQuotas() && isBeyondHardLimit(path, 1, length(create.data())), -125);
        Node node = new Node();
        node.data = create.data();
        node.acl = acl;
        node.czxid = zxid;
        node.mzxid = zxid;
        node.pzxid = zxid;
        node.ctime = timeMs;
        node.mtime = timeMs;
        node.container = create.mode() == ZnodeKind.CONTAINER;
        node.ttlMs = create.ttlMs();
        node.session = create.mode().name().startsWith("EPHEMERAL") ? request.sessionId() : 0;
        nodes.put(path, node);
        parent.creations++;
        parent.pzxid = zxid;
        String answer = path + " " + stat(path);
        if (path.endsWith(STATS) && path.startsWith("/zookeeper/quota/") && level >= 4) {
            countFrom(path);
        }
        used(path, 1, length(create.data()));
        return answer;
    }

    private String delete(String path, int version, List<AuthId> ids, Change.DeleteContainer reaper) throws Refused {
        refuseIf(!path.contains("/"), -8);
        Set<String> kept = new HashSet<>(List.of("/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"));
        refuseIf(kept.contains(path), -8);
        if (path.equals("//a")) {
            throw new Refused(-101);
        }
        Node parent = node(parent(path));
        refuseIf(!permits(parent.acl, ids, 8), -102);
        Node node = node(path);
        refuseIf(version != -1 && version != node.version, -103);
        refuseIf(childCount(path) > 0, -111);
        refuseIf(reaper != null && !isReapable(node, reaper.maxNeverUsedMs()), -103);
        nodes.remove(path);
        parent.pzxid = zxid;
        used(path, -1, -length(node.data));
        return "ok";
    }

    private static int length(byte[] data) {
        return data == null ? 0 : data.length;
    }

    private void countFrom(String stats) {
        String top = stats.substring("/zookeeper/quota".length(), stats.length() - STATS.length());
        if (!top.isEmpty()) {
            nodes.get(stats).data = counted(nodes, top).getBytes(StandardCharsets.UTF_8);
        }
    }

    private static String counted(Map<String, Node> nodes, String top) {
        long count = 0;
        long bytes = 0;
        for (String path : nodes.keySet()) {
            if (path.equals(top) || path.startsWith(top + "/")) {
                count++;
                bytes += length(nodes.get(path).data);
            }
        }
        return "count=" + count + ",bytes=" + bytes;
    }

    private String topOf(String path) {
        if (level < 4 || (path + "/").startsWith("/zookeeper/")) {
            return null;
        }
        for (String top = path; top.length() > 1; top = parent(top)) {
            if (nodes.containsKey("/zookeeper/quota" + top + LIMITS)) {
                return top;
            }
        }
        return null;
    }

    private void used(String path, long count, long bytes) {
        if (topOf(path) != null) {
            usedOf(topOf(path), count, bytes);
        }
    }

    private void usedOf(String top, long count, long bytes) {
        Node stats = nodes.get("/zookeeper/quota" + top + STATS);
        Map<String, Long> usage = stats == null ? null : numbers(stats.data);
        if (usage == null) {
            return;
        }
        StringBuilder text = new StringBuilder();
        text.append("count=").append(usage.getOrDefault("count", -1L) + count);
        text.append(",bytes=").append(usage.getOrDefault("bytes", -1L) + bytes);
        usage.keySet().removeAll(List.of("count", "bytes"));
        String separator = "=;";
        for (String name : usage.keySet()) {
            text.append(separator).append(name).append("=").append(usage.get(name));
            separator = ";";
        }
        stats.data = text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private boolean isBeyondHardLimit(String path, long count, long bytes) {
        String top = topOf(path);
        Node stats = nodes.get("/zookeeper/quota" + top + STATS);
        if (top == null || stats == null) {
            return false;
        }
        Map<String, Long> limits = numbers(nodes.get("/zookeeper/quota" + top + LIMITS).data);
        Map<String, Long> usage = numbers(stats.data);
        if (limits == null || usage == null) {
            return false;
        }
        long most = limits.getOrDefault("countHardLimit", -1L);
        long mostBytes = limits.getOrDefault("byteHardLimit", -1L);
        return count != 0 && most >= 0 && usage.getOrDefault("count", -1L) + count > most
                || bytes != 0 && mostBytes >= 0 && usage.getOrDefault("bytes", -1L) + bytes > mostBytes;
    }

    /** Null for what has another format. */
    private static Map<String, Long> numbers(byte[] data) {
        Map<String, Long> numbers = new TreeMap<>();
        String text = data == null ? "?" : new String(data, StandardCharsets.UTF_8);
        for (String pair : text.isEmpty() ? new String[0] : text.split("[,;]")) {
            Matcher matcher = Pattern.compile("([^=]+)=(-?[0-9]+|=.*[^=])=*").matcher(pair);
            if (!pair.isEmpty() && !matcher.matches()) {
                return null;
            }
            if (!pair.isEmpty()) {
                numbers.put(
                        matcher.group(1), matcher.group(2).startsWith("=") ? -1L : Long.parseLong(matcher.group(2)));
            }
        }
        return numbers;
    }

    private boolean isReapable(Node node, long maxNeverUsedMs) {
        boolean used = node.container && node.creations != 0;
        boolean neverUsed = node.container && maxNeverUsedMs > 0 && timeMs > node.mtime + maxNeverUsedMs;
        boolean outlived = node.ttlMs > 0 && timeMs > node.mtime + node.ttlMs;
        return used || neverUsed || outlived;
    }

    private Node node(String path) throws Refused {
        Node node = nodes.get(path);
        refuseIf(node == null, -101);
        return node;
    }

    private static void refuseIf(boolean condition, int code) throws Refused {
        if (condition) {
            throw new Refused(code);
        }
    }

    private static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? "/" : path.substring(0, slash);
    }

    private static void validate(String path) throws Refused {
        boolean valid =
                path.equals("/") || path.matches("(/[^/\\x00-\\x1f\\x7f-\\x9f\\ud800-\\uf8ff\\ufff0-\\uffff]+)+");
        for (String name : path.split("/")) {
            valid &= !name.equals(".") && !name.equals("..");
        }
        refuseIf(!valid, -8);
    }

    private static boolean permits(ZnodeAcl acl, List<AuthId> ids, int permission) {
        for (AclEntry entry : acl.entries()) {
            boolean me = entry.id().equals(AuthId.ANYONE)
                    || ids.contains(entry.id())
                    || entry.id().id().equals("10.0.0.0/8") && ids.contains(new AuthId("ip", "10.0.0.1"));
            if (me && (entry.permissions() & permission) != 0) {
                return true;
            }
        }
        return ids.contains(AuthId.SUPER);
    }

    /** Knows the lists of {@link RandomChanges} only. */
    private static ZnodeAcl resolve(ZnodeAcl acl, List<AuthId> ids) throws Refused {
        refuseIf(acl.entries().isEmpty(), -114);
        if (!acl.entries().get(0).id().scheme().equals("auth")) {
            return acl;
        }
        List<AclEntry> mine = new ArrayList<>();
        for (AuthId id : ids) {
            if (id.scheme().equals("digest")) {
                mine.add(new AclEntry(acl.entries().get(0).permissions(), id));
            }
        }
        refuseIf(mine.isEmpty(), -114);
        return new ZnodeAcl(mine);
    }

    private int childCount(String path) {
        String prefix = path.equals("/") ? "/" : path + "/";
        int count = 0;
        for (String other : nodes.keySet()) {
            if (other.length() > prefix.length()
                    && other.startsWith(prefix)
                    && other.indexOf('/', prefix.length()) < 0) {
                count++;
            }
        }
        return count;
    }

    private String stat(String path) {
        Node n = nodes.get(path);
        int children = childCount(path);
        return new ZnodeStat(
                        n.czxid,
                        n.mzxid,
                        n.ctime,
                        n.mtime,
                        n.version,
                        2 * n.creations - children,
                        n.aversion,
                        n.session,
                        n.data == null ? 0 : n.data.length,
                        children,
                        n.pzxid)
                .toString();
    }

    /** Everything that is in the model, for comparing with {@link TreeText#dump}. */
    Map<String, String> dump() {
        Map<String, String> dump = new TreeMap<>();
        for (String path : nodes.keySet()) {
            Node node = nodes.get(path);
            dump.put(path, stat(path) + Arrays.toString(node.data) + node.acl + node.container + node.ttlMs);
        }
        sessions.forEach((id, session) -> {
            List<String> ephemerals = new ArrayList<>();
            nodes.forEach((path, node) -> {
                if (node.session == id) {
                    ephemerals.add(path);
                }
            });
            dump.put(
                    "session " + id,
                    session.timeoutMs + " " + session.attachment + " " + session.suspicion + " " + ephemerals);
        });
        return dump;
    }
}
