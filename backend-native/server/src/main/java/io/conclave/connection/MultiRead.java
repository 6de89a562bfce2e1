package io.conclave.connection;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.JuteWriter;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyBody.MultiResult;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WireRecord;
import io.conclave.tree.AuthId;
import io.conclave.tree.Caller;
import io.conclave.tree.ChildNames;
import io.conclave.tree.TreeException;
import io.conclave.tree.TreeReads;
import io.conclave.tree.TreeState;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a multiRead, made in as many steps as the caller likes, all of them from one state. Belongs to the
 * connection's loop.
 */
final class MultiRead {
    /** Once its results are larger, the parts that are left are refused; less where one client may have less. */
    private static final long MOST_BYTES = 16L << 20;

    /** Where a name in a list of children counts 1. */
    private static final int LONG_WORK = 5_000;

    /** Behind all results. */
    static final WireRecord END = new ReplyBody.Multi(List.of());

    private static final int WORK_OF_A_PART = 5;
    private static final int BYTES_OF_WORK = 256;

    private final ReadRequests reads;
    private final TreeState state;
    private final Caller caller;
    private final Iterator<RequestBody> parts;
    private final Supplier<JuteWriter> out;
    private final long mostBytes;
    /** The list of children that has been begun. */
    private @Nullable ChildNames names;
    /** Of data and names; beyond the limit the parts that are left fail. */
    private long bytes;

    /**
     * An answer of which nothing is made yet.
     *
     * @param out what writes the next result, or the next name in one
     */
    MultiRead(
            ReadRequests reads,
            TreeState state,
            RequestBody.Multi request,
            List<AuthId> authIds,
            Supplier<JuteWriter> out) {
        this.reads = reads;
        this.state = state;
        this.caller = new Caller(authIds);
        this.out = out;
        this.mostBytes = Math.min(MOST_BYTES, reads.mostUnreadBytes() / 2);
        this.parts = request.operations().iterator();
    }

    /** The whole answer at once. */
    static WireRecord all(ReadRequests reads, TreeState state, RequestBody.Multi request, List<AuthId> authIds) {
        ByteBuf encoded = Unpooled.buffer();
        JuteWriter writer = new JuteWriter(encoded);
        new MultiRead(reads, state, request, authIds, () -> writer).advance(Integer.MAX_VALUE);
        END.encode(writer);
        return all -> all.writeEncoded(encoded);
    }

    /** Whether a request is more than what is done in one go; looks at no more names than that. */
    static boolean isLong(TreeState state, RequestBody.Multi request) {
        long work = (long) WORK_OF_A_PART * request.operations().size();
        Iterator<RequestBody> parts = request.operations().iterator();
        while (work <= LONG_WORK && parts.hasNext()) {
            RequestBody part = parts.next();
            if (part instanceof RequestBody.GetChildren list) {
                work += TreeReads.childCount(state, list.path());
                work += work > LONG_WORK ? 0 : TreeReads.nameCharacters(state, list.path()) / BYTES_OF_WORK;
            } else {
                work += TreeReads.dataLength(state, ((RequestBody.GetData) part).path()) / BYTES_OF_WORK;
            }
        }
        return work > LONG_WORK;
    }

    /**
     * Goes on.
     *
     * @param most how much to do, about
     * @return whether all is done
     */
    boolean advance(int most) {
        int left = most;
        while (left > 0 && (names != null || parts.hasNext())) {
            if (names == null) {
                left -= begin(parts.next());
            } else {
                int listed = Math.min(left, names.count());
                if (names.advance(listed, this::list)) {
                    names = null;
                }
                left -= listed;
            }
        }
        return names == null && !parts.hasNext();
    }

    /** Answers a part, or the head of a list of children; returns what that took. */
    private int begin(RequestBody part) {
        if (bytes > mostBytes) {
            MultiResult.failed(ErrorCode.MARSHALLING_ERROR.code()).encode(out.get());
            return WORK_OF_A_PART;
        }
        try {
            if (part instanceof RequestBody.GetChildren list) {
                ChildNames begun = reads.names(state, list, caller);
                MultiResult.encodeHeader(OpCode.GET_CHILDREN, out.get());
                out.get().writeInt(begun.count());
                names = begun;
                return WORK_OF_A_PART;
            }
            ReplyBody.GetData data = reads.data(state, (RequestBody.GetData) part, caller);
            MultiResult.succeeded(OpCode.GET_DATA, data).encode(out.get());
            int length = data.stat().dataLength();
            bytes += length;
            return WORK_OF_A_PART + length / BYTES_OF_WORK;
        } catch (TreeException e) {
            MultiResult.failed(e.error().code()).encode(out.get());
            return WORK_OF_A_PART;
        }
    }

    private void list(String name) {
        out.get().writeString(name);
        bytes += name.length();
    }
}
