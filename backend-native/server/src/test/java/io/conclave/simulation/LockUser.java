package io.conclave.simulation;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;

/** Stands in a line for a lock, as the recipes do, and holds it for a while. */
final class LockUser {
    static final String LINE = "/lock";

    private enum State {
        IDLE,
        ENTERING,
        WAITING,
        HOLDING,
        LEAVING
    }

    private final SimulatedClient client;
    private final Simulation world;
    private State state = State.IDLE;
    private String mark = "";
    private String watched = "";
    private String deleting = "";
    private int marks;
    private long token;

    LockUser(SimulatedClient client, Simulation world) {
        this.client = client;
        this.world = world;
    }

    boolean isIdle() {
        return state == State.IDLE;
    }

    /** Whether its client counts on the lock now. */
    boolean holds() {
        Truth.Session session = client.session();
        return state == State.HOLDING && session != null && world.time.nowUs() < session.safeUntilUs();
    }

    long token() {
        return token;
    }

    /** Enters the line; and its content is requested in the same flush. */
    void enter() {
        state = State.ENTERING;
        mark = "m" + client.id + "-" + ++marks + "-";
        String tag = client.nextTag();
        client.send(
                new RequestBody.Create(
                        OpCode.CREATE2,
                        LINE + "/" + mark,
                        tag.getBytes(StandardCharsets.ISO_8859_1),
                        AclRecord.OPEN,
                        CreateFlag.EPHEMERAL_SEQUENTIAL),
                tag,
                reply -> {
                    if (reply != null && !reply.isOk()) {
                        state = State.IDLE;
                    }
                });
        look();
    }

    private void look() {
        String of = mark;
        client.send(new RequestBody.GetChildren(OpCode.GET_CHILDREN2, LINE, false), "", reply -> {
            if (reply != null && reply.isOk() && of.equals(mark) && state != State.IDLE) {
                looked(((ReplyBody.GetChildren2) reply.body()).children());
            }
        });
    }

    private void looked(List<String> children) {
        List<String> line = children.stream()
                .sorted(Comparator.comparing(name -> name.substring(name.length() - 10)))
                .toList();
        int place = -1;
        for (int i = 0; i < line.size() && place < 0; i++) {
            if (line.get(i).startsWith(mark)) {
                place = i;
            }
        }
        if (state == State.LEAVING) {
            if (place >= 0) {
                delete(LINE + "/" + line.get(place));
            } else {
                state = State.IDLE;
            }
        } else if (place < 0) {
            if (state != State.ENTERING) {
                throw new Violation(client + " stood in the line and stands there no more: " + line);
            }
            state = State.IDLE; // never got there
        } else if (state != State.HOLDING) {
            state = State.WAITING;
            String own = LINE + "/" + line.get(place);
            if (place == 0) {
                head(own);
            } else {
                await(LINE + "/" + line.get(place - 1));
            }
        }
    }

    private void await(String predecessor) {
        watched = predecessor;
        String of = mark;
        client.send(new RequestBody.GetData(predecessor, true), "", reply -> {
            if (reply != null && !reply.isOk() && of.equals(mark) && state == State.WAITING) {
                look();
            }
        });
    }

    private void head(String own) {
        String of = mark;
        client.send(new RequestBody.Exists(own, false), "", reply -> {
            if (reply == null || !of.equals(mark) || state != State.WAITING) {
                return;
            }
            if (!reply.isOk()) {
                throw new Violation(client + " was the head of the line and its node is gone: " + own);
            }
            ReplyBody.Stat found = (ReplyBody.Stat) reply.body();
            if (found.stat().ephemeralOwner() != client.sessionId()) {
                throw new Violation(client + " finds its node to be of another session: " + found);
            }
            Truth.Session session = client.session();
            if (client.isClosingSession()) {
                state = State.LEAVING; // has asked for the end of what it would count on
            } else if (world.time.nowUs() < session.safeUntilUs()) {
                granted(own, found.stat().czxid());
            } else {
                client.disconnect(); // not to be counted on: asks again when it is heard of
            }
        });
    }

    private void granted(String own, long newToken) {
        token = newToken;
        state = State.HOLDING;
        world.granted(client, newToken);
        String of = mark;
        world.time.after(1_000 + client.random.nextInt(400_000), () -> {
            if (of.equals(mark) && state == State.HOLDING) {
                state = State.LEAVING;
                if (client.isAttached()) {
                    delete(own);
                }
            }
        });
    }

    private void delete(String own) {
        String of = mark;
        if (of.equals(deleting)) {
            return;
        }
        deleting = of;
        client.send(new RequestBody.Delete(own, -1), "", reply -> {
            if (reply != null && of.equals(mark) && state == State.LEAVING) {
                deleting = "";
                if (reply.isNoRoom()) {
                    world.time.after(200_000, this::leaveAgain);
                    return;
                }
                if (!reply.isOk()) {
                    throw new Violation(client + " leaves the line and was not there any more: " + own);
                }
                state = State.IDLE;
            }
        });
    }

    private void leaveAgain() {
        if (state == State.LEAVING) {
            look();
        }
    }

    void told(String path) {
        if (state == State.WAITING && path.equals(watched) && client.isAttached()) {
            look();
        }
    }

    void disconnected() {
        deleting = "";
        watched = "";
    }

    void reconnected() {
        if (state != State.IDLE) {
            look();
        }
    }

    /** The session is gone, or may be: so is the lock, for good. */
    void lost() {
        if (client.sessionId() == 0) {
            state = State.IDLE;
        } else if (state == State.HOLDING) {
            state = State.LEAVING;
            if (client.isAttached()) {
                look();
            }
        }
    }
}
