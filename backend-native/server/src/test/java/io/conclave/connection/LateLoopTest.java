package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.replica.ChangeProposal;
import io.conclave.replica.Step;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.TreeState;
import io.conclave.tree.ZnodeAcl;
import io.conclave.tree.ZnodeKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What has been applied, and shown by other loops, waits for a loop that has not walked to it yet. */
class LateLoopTest {
    private static final long OURS = 1;
    private static final long OTHERS = 2;

    private final LoneLoop server = new LoneLoop();
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ConnectionReader reader = server.reader(channel, 1 << 20, new TestLeases());
    private final ClientConnection connection = reader.connection();
    private TreeState applied = TreeState.initial(new UUID(1, 2), 0);

    @BeforeEach
    void open() {
        for (long session : List.of(OURS, OTHERS)) {
            apply(new Change.OpenSession(session, SessionPassword.of(new byte[SessionPassword.BYTES]), 5000));
        }
        apply(request(OTHERS, new TreeOperation.Create("/n", new byte[0], ZnodeAcl.OPEN, ZnodeKind.PERSISTENT)));
        server.loop.begin(applied);
        connection.attaching();
        connection.attached(applied.session(OURS).orElseThrow());
    }

    @AfterEach
    void end() {
        connection.close("the test is over");
        channel.releaseOutbound();
        server.close();
    }

    private Applied apply(Change change) {
        Applied next = Tree.apply(applied, change, 1);
        applied = next.state();
        return next;
    }

    private Change.Request request(long session, TreeOperation operation) {
        return new Change.Request(
                session, applied.session(session).orElseThrow().attachment(), List.of(), operation);
    }

    private Step step(Change change, @Nullable ChangeProposal origin) {
        return new Step(change, apply(change), origin);
    }

    private static ByteBuf frame(int xid, RequestBody request) {
        ByteBuf frame = Unpooled.buffer();
        Frames.writeRequest(frame, xid, request);
        return frame;
    }

    private JuteReader nextReply(ByteBuf written) {
        return new JuteReader(Frames.next(written, Integer.MAX_VALUE).orElseThrow());
    }

    /** What the loop flushed. */
    private ByteBuf written() {
        channel.flushOutbound();
        ByteBuf all = Unpooled.buffer();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            all.writeBytes(part);
            part.release();
        }
        return all;
    }

    private ChangeProposal proposedWrite() {
        reader.channelRead(null, frame(1, new RequestBody.SetData("/n", new byte[] {1}, -1)));
        return (ChangeProposal) server.proposed.get(0);
    }

    /** The walk answers the client's own write first, before it comes to the other one. */
    @Test
    void aReadShowsAWriteOfAnotherClientThatWasAppliedBeforeTheReadCame() {
        ChangeProposal own = proposedWrite();
        Step first = step(own.change(), own);
        Step second = step(request(OTHERS, new TreeOperation.SetData("/n", new byte[] {2}, -1)), null);
        server.feed.batch(List.of(first, second));
        reader.channelRead(null, frame(2, new RequestBody.GetData("/n", false)));
        reader.channelReadComplete(null);
        ByteBuf written = written();
        assertEquals(1, ReplyHeader.decode(nextReply(written)).xid());
        JuteReader reply = nextReply(written);
        assertEquals(new ReplyHeader(2, second.applied().zxid(), 0), ReplyHeader.decode(reply));
        ReplyBody.GetData read = (ReplyBody.GetData) ReplyBody.decode(OpCode.GET_DATA, reply);
        assertArrayEquals(new byte[] {2}, read.data());
        assertFalse(written.isReadable());
    }

    @Test
    void whatComesForAConnectionThatEndsMeanwhileIsReleased() {
        Change moved = new Change.ResumeSession(OURS, SessionPassword.of(new byte[SessionPassword.BYTES]), 5000);
        server.feed.batch(List.of(step(moved, null)));
        ByteBuf late = frame(1, new RequestBody.GetData("/n", false));
        reader.channelRead(null, late);
        assertEquals(0, late.refCnt());
    }
}
