package io.conclave.proofs.differential;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.jute.BinaryInputArchive;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.SyncRequest;

/** One of the two servers, with its sessions, and everything it says as text. */
final class Subject {
    private static final int WATCH_EVENT = -1;

    private final int port;
    private final Names names = new Names();
    private final ReplyText text = new ReplyText(names);
    private final List<RawSession> sessions = new ArrayList<>();

    Subject(int port, int sessionCount) throws IOException {
        this.port = port;
        for (int i = 0; i < sessionCount; i++) {
            sessions.add(open());
        }
    }

    private RawSession open() throws IOException {
        RawSession session = new RawSession(port);
        names.session(session.attached().getSessionId());
        return session;
    }

    private String attached(RawSession session) {
        return "attached " + names.sessionName(session.attached().getSessionId()) + " timeout="
                + session.attached().getTimeOut();
    }

    /** Opens a session in the place of a closed one. */
    String reopen(int session) throws IOException {
        sessions.set(session, open());
        return attached(sessions.get(session));
    }

    /**
     * Drops the connection of a session and resumes it on another: a change in our log, but not in theirs, so it gets
     * no name.
     */
    String resume(int session) throws IOException {
        RawSession resumed = sessions.get(session);
        resumed.resume(names.last());
        resumed.write(RawSession.frame(0, OpCode.sync, RawSession.bytesOf(new SyncRequest("/"))));
        names.unnamed(header(resumed.readFrame().orElseThrow()).getZxid());
        return attached(resumed);
    }

    void drop() throws IOException {
        for (RawSession session : sessions) {
            session.drop();
        }
    }

    private static ReplyHeader header(DataInputStream frame) throws IOException {
        ReplyHeader header = new ReplyHeader();
        header.deserialize(BinaryInputArchive.getArchive(frame), "");
        return header;
    }

    /** Sends requests in one piece, and gives all frames up to the last reply. */
    List<String> exchange(int session, List<RandomOperations.Request> requests) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Map<Integer, Integer> types = new HashMap<>();
        for (RandomOperations.Request request : requests) {
            out.writeBytes(request.frame(names));
            types.put(request.xid(), request.type());
        }
        sessions.get(session).write(out.toByteArray());
        List<String> frames = new ArrayList<>();
        int open = requests.size();
        while (open > 0) {
            Optional<DataInputStream> frame = sessions.get(session).readFrame();
            if (frame.isEmpty()) {
                frames.add("closed");
                return frames;
            }
            ReplyHeader header = header(frame.get());
            if (header.getXid() == WATCH_EVENT) {
                frames.add(text.event(header, frame.get()));
            } else {
                frames.add(text.of(header, types.getOrDefault(header.getXid(), OpCode.error), frame.get()));
                open--;
            }
        }
        return frames;
    }
}
