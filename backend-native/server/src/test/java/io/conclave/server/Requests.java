package io.conclave.server;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.AuthRequest;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.CreateRequest;
import io.conclave.protocol.DeleteRequest;
import io.conclave.protocol.EmptyRequest;
import io.conclave.protocol.ExistsRequest;
import io.conclave.protocol.GetChildrenRequest;
import io.conclave.protocol.GetDataRequest;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.SetDataRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Short names for the requests that tests send. */
final class Requests {
    private Requests() {}

    static CreateRequest create(String path) {
        return create(path, CreateFlag.PERSISTENT);
    }

    static CreateRequest create(String path, CreateFlag flag) {
        return new CreateRequest(OpCode.CREATE, path, bytes("data"), AclRecord.OPEN, flag);
    }

    static CreateRequest create(String path, List<AclRecord> acl) {
        return new CreateRequest(OpCode.CREATE, path, bytes("data"), acl, CreateFlag.PERSISTENT);
    }

    static GetDataRequest get(String path) {
        return new GetDataRequest(path, false);
    }

    static GetDataRequest getAndWatch(String path) {
        return new GetDataRequest(path, true);
    }

    static ExistsRequest existsAndWatch(String path) {
        return new ExistsRequest(path, true);
    }

    static ExistsRequest exists(String path) {
        return new ExistsRequest(path, false);
    }

    static GetChildrenRequest childrenAndWatch(String path) {
        return new GetChildrenRequest(path, true);
    }

    static SetDataRequest set(String path, String data) {
        return new SetDataRequest(path, bytes(data), -1);
    }

    static DeleteRequest delete(String path) {
        return new DeleteRequest(path, -1);
    }

    static AuthRequest digest(String userAndPassword) {
        return new AuthRequest(0, "digest", bytes(userAndPassword));
    }

    static EmptyRequest ping() {
        return new EmptyRequest(OpCode.PING);
    }

    static EmptyRequest closeSession() {
        return new EmptyRequest(OpCode.CLOSE_SESSION);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
