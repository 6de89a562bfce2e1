package io.conclave.server;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Short names for the requests that tests send. */
final class Requests {
    private Requests() {}

    static RequestBody.Create create(String path) {
        return create(path, CreateFlag.PERSISTENT);
    }

    static RequestBody.Create create(String path, CreateFlag flag) {
        return new RequestBody.Create(OpCode.CREATE, path, bytes("data"), AclRecord.OPEN, flag);
    }

    static RequestBody.Create create(String path, List<AclRecord> acl) {
        return new RequestBody.Create(OpCode.CREATE, path, bytes("data"), acl, CreateFlag.PERSISTENT);
    }

    static RequestBody.GetData get(String path) {
        return new RequestBody.GetData(path, false);
    }

    static RequestBody.GetData getAndWatch(String path) {
        return new RequestBody.GetData(path, true);
    }

    static RequestBody.Exists existsAndWatch(String path) {
        return new RequestBody.Exists(path, true);
    }

    static RequestBody.Exists exists(String path) {
        return new RequestBody.Exists(path, false);
    }

    static RequestBody.GetChildren childrenAndWatch(String path) {
        return new RequestBody.GetChildren(path, true);
    }

    static RequestBody.SetData set(String path, String data) {
        return new RequestBody.SetData(path, bytes(data), -1);
    }

    static RequestBody.Delete delete(String path) {
        return new RequestBody.Delete(path, -1);
    }

    static ConnectionRequest.Auth digest(String userAndPassword) {
        return new ConnectionRequest.Auth(0, "digest", bytes(userAndPassword));
    }

    static ConnectionRequest.Empty ping() {
        return new ConnectionRequest.Empty(OpCode.PING);
    }

    static ConnectionRequest.Empty closeSession() {
        return new ConnectionRequest.Empty(OpCode.CLOSE_SESSION);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
