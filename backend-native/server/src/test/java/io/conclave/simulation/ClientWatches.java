package io.conclave.simulation;

import io.conclave.protocol.OpCode;
import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.WatcherEvent;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.TreeState;
import io.conclave.tree.Znode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The one-shot watches of a client: each gets the first change behind what its reader saw, before that is shown.
 */
final class ClientWatches {
    private static final long NO_ZXID = -1;

    private final Truth truth;
    private final SimulatedClient client;

    /** By path, what was seen when the watch was set. */
    private final Map<String, Long> ofData = new TreeMap<>();

    private final Map<String, Long> ofChildren = new TreeMap<>();

    ClientWatches(Truth truth, SimulatedClient client) {
        this.truth = truth;
        this.client = client;
    }

    boolean isAny() {
        return !ofData.isEmpty() || !ofChildren.isEmpty();
    }

    int size() {
        return ofData.size() + ofChildren.size();
    }

    void clear() {
        ofData.clear();
        ofChildren.clear();
    }

    void armed(String path, boolean children, long zxid) {
        (children ? ofChildren : ofData).putIfAbsent(path, zxid);
    }

    /** Nothing may be shown that a watch ought to have told of before. */
    void shown(long zxid) {
        check(ofData, false, zxid);
        check(ofChildren, true, zxid);
    }

    private void check(Map<String, Long> watches, boolean children, long zxid) {
        for (Map.Entry<String, Long> watch : watches.entrySet()) {
            if (watch.getValue() < zxid) {
                TreeEvent event = truth.firstEvent(watch.getKey(), children, watch.getValue());
                if (event != null && event.zxid() <= zxid && !resetting) {
                    throw new Violation(client + " is shown 0x" + Long.toHexString(zxid) + " and was not told of "
                            + event + ", for which it has watched since 0x" + Long.toHexString(watch.getValue()));
                }
            }
        }
    }

    // ---- after a reconnect

    /** Until they are set again, changes may be missed. */
    private boolean resetting;

    private long sinceZxid;

    /**
     * The request that sets them again.
     *
     * @param told what the request says that was seen, which is the same but for a mistake
     */
    WatchRequest.SetWatches again(long lastZxid, long told) {
        resetting = true;
        sinceZxid = lastZxid;
        List<String> data = new ArrayList<>();
        List<String> exist = new ArrayList<>();
        for (Map.Entry<String, Long> watch : ofData.entrySet()) {
            boolean existed =
                    truth.stateAt(watch.getValue()).znode(watch.getKey()).isPresent();
            (existed ? data : exist).add(watch.getKey());
        }
        return new WatchRequest.SetWatches(
                OpCode.SET_WATCHES, told, data, exist, new ArrayList<>(ofChildren.keySet()), List.of(), List.of());
    }

    /** They are set: missed events have been reported. */
    void setAgain(WatchRequest.SetWatches request, long zxid) {
        resetting = false;
        TreeState state = truth.stateAt(zxid);
        for (String path : request.dataWatches()) {
            Optional<Znode> node = state.znode(path);
            again(ofData, path, zxid, node.isEmpty() || node.get().mzxid() > sinceZxid);
        }
        for (String path : request.existWatches()) {
            again(ofData, path, zxid, state.znode(path).isPresent());
        }
        for (String path : request.childWatches()) {
            Optional<Znode> node = state.znode(path);
            again(ofChildren, path, zxid, node.isEmpty() || node.get().pzxid() > sinceZxid);
        }
    }

    private void again(Map<String, Long> watches, String path, long zxid, boolean missed) {
        if (watches.containsKey(path)) {
            if (missed) {
                throw new Violation(client + " has set its watches again, and was not told of " + path);
            }
            watches.put(path, zxid);
        }
    }

    // ---- events

    void told(long zxid, WatcherEvent event) {
        boolean deleted = event.type() == TreeEvent.Type.DELETED.code();
        boolean children = event.type() == TreeEvent.Type.CHILDREN_CHANGED.code();
        Long data = deleted || !children ? ofData.get(event.path()) : null;
        Long list = deleted || children ? ofChildren.get(event.path()) : null;
        if (data == null && list == null) {
            throw new Violation(client + " is told of " + event + " and does not watch it");
        }
        if (zxid != NO_ZXID) {
            if (data != null) {
                check(event, zxid, false, data);
            }
            if (list != null) {
                check(event, zxid, true, list);
            }
        } else if (!resetting) {
            throw new Violation(client + " is told of " + event + " without a change");
        }
        if (data != null) {
            ofData.remove(event.path());
        }
        if (list != null) {
            ofChildren.remove(event.path());
        }
        client.lock.told(event.path());
    }

    private void check(WatcherEvent event, long zxid, boolean children, long since) {
        TreeEvent first = truth.firstEvent(event.path(), children, since);
        if (first == null || first.zxid() != zxid || first.type().code() != event.type()) {
            throw new Violation(client + " is told of " + event + " at 0x" + Long.toHexString(zxid) + ", and watches "
                    + event.path() + " since 0x" + Long.toHexString(since) + ": " + first);
        }
    }
}
