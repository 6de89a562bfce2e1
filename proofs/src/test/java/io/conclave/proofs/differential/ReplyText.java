package io.conclave.proofs.differential;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.MultiResponse;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.ClientInfo;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.Create2Response;
import org.apache.zookeeper.proto.CreateResponse;
import org.apache.zookeeper.proto.ErrorResponse;
import org.apache.zookeeper.proto.ExistsResponse;
import org.apache.zookeeper.proto.GetACLResponse;
import org.apache.zookeeper.proto.GetAllChildrenNumberResponse;
import org.apache.zookeeper.proto.GetChildren2Response;
import org.apache.zookeeper.proto.GetChildrenResponse;
import org.apache.zookeeper.proto.GetDataResponse;
import org.apache.zookeeper.proto.GetEphemeralsResponse;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.SetACLResponse;
import org.apache.zookeeper.proto.SetDataResponse;
import org.apache.zookeeper.proto.SyncResponse;
import org.apache.zookeeper.proto.WatcherEvent;
import org.apache.zookeeper.proto.WhoAmIResponse;

/** Writes out everything in a frame that both servers must agree on. */
final class ReplyText {
    private final Names names;

    ReplyText(Names names) {
        this.names = names;
    }

    String of(ReplyHeader header, int type, DataInputStream body) throws IOException {
        // what is refused for what it says, whatever the state, does not enter our log and takes no number
        body.mark(Integer.MAX_VALUE);
        boolean refused = isRefusal(header.getErr())
                || isMulti(type) && body.available() > 0 && refusedPart(read(new MultiResponse(), body));
        body.reset();
        String zxid = refused ? names.unnamed(header.getZxid()) : names.seen(header.getZxid());
        String start = "xid=" + header.getXid() + " " + zxid + " err=" + header.getErr();
        String text = header.getErr() == 0 ? start + " " + body(type, body) : start;
        int rest = body.available();
        return rest == 0 ? text : text + " and " + rest + " bytes more";
    }

    private static boolean isMulti(int type) {
        return type == OpCode.multi;
    }

    private static boolean isRefusal(int error) {
        return error == KeeperException.Code.UNIMPLEMENTED.intValue()
                || error == KeeperException.Code.BADARGUMENTS.intValue();
    }

    private static boolean refusedPart(MultiResponse response) {
        for (OpResult result : response) {
            if (result instanceof OpResult.ErrorResult error && isRefusal(error.getErr())) {
                return true;
            }
        }
        return false;
    }

    String event(ReplyHeader header, DataInputStream body) throws IOException {
        WatcherEvent event = read(new WatcherEvent(), body);
        return "event " + names.seen(header.getZxid()) + " type=" + event.getType() + " state=" + event.getState() + " "
                + event.getPath();
    }

    private static <R extends Record> R read(R record, DataInputStream in) throws IOException {
        record.deserialize(BinaryInputArchive.getArchive(in), "");
        return record;
    }

    private String body(int type, DataInputStream in) throws IOException {
        switch (type) {
            case OpCode.create:
                return read(new CreateResponse(), in).getPath();
            case OpCode.create2, OpCode.createContainer, OpCode.createTTL: {
                Create2Response created = read(new Create2Response(), in);
                return created.getPath() + " " + stat(created.getStat());
            }
            case OpCode.exists:
                return stat(read(new ExistsResponse(), in).getStat());
            case OpCode.getData: {
                GetDataResponse data = read(new GetDataResponse(), in);
                return data(data.getData()) + " " + stat(data.getStat());
            }
            case OpCode.setData:
                return stat(read(new SetDataResponse(), in).getStat());
            case OpCode.setACL:
                return stat(read(new SetACLResponse(), in).getStat());
            case OpCode.getACL: {
                GetACLResponse acl = read(new GetACLResponse(), in);
                return acl.getAcl() + " " + stat(acl.getStat());
            }
            case OpCode.getChildren:
                return sorted(read(new GetChildrenResponse(), in).getChildren());
            case OpCode.getChildren2: {
                GetChildren2Response children = read(new GetChildren2Response(), in);
                return sorted(children.getChildren()) + " " + stat(children.getStat());
            }
            case OpCode.getAllChildrenNumber:
                return "number=" + read(new GetAllChildrenNumberResponse(), in).getTotalNumber();
            case OpCode.getEphemerals:
                return sorted(read(new GetEphemeralsResponse(), in).getEphemerals());
            case OpCode.sync:
                return read(new SyncResponse(), in).getPath();
            case OpCode.whoAmI:
                return sorted(read(new WhoAmIResponse(), in).getClientInfo().stream()
                        .map(ClientInfo::toString)
                        .toList());
            case OpCode.addWatch:
                return "code=" + read(new ErrorResponse(), in).getErr();
            case OpCode.multi, OpCode.multiRead:
                return multi(read(new MultiResponse(), in));
            default:
                return "";
        }
    }

    private String multi(MultiResponse response) {
        List<String> results = new ArrayList<>();
        for (OpResult result : response) {
            results.add(result(result));
        }
        return results.toString();
    }

    private String result(OpResult result) {
        if (result instanceof OpResult.ErrorResult error) {
            return "err=" + error.getErr();
        }
        if (result instanceof OpResult.CreateResult created) {
            return result.getType() + " " + created.getPath()
                    + (created.getStat() == null ? "" : " " + stat(created.getStat()));
        }
        if (result instanceof OpResult.SetDataResult set) {
            return stat(set.getStat());
        }
        if (result instanceof OpResult.GetDataResult data) {
            return data(data.getData()) + " " + stat(data.getStat());
        }
        if (result instanceof OpResult.GetChildrenResult children) {
            return sorted(children.getChildren());
        }
        return "type=" + result.getType();
    }

    private static String data(byte[] data) {
        return data == null ? "null" : "\"" + new String(data, StandardCharsets.ISO_8859_1) + "\"";
    }

    private static String sorted(List<String> strings) {
        List<String> sorted = new ArrayList<>(strings);
        Collections.sort(sorted);
        return sorted.toString();
    }

    /** All but the times, of which only the order is known. */
    private String stat(Stat stat) {
        return "{c=" + names.zxid(stat.getCzxid()) + " m=" + names.zxid(stat.getMzxid()) + " p="
                + names.zxid(stat.getPzxid()) + " v=" + stat.getVersion() + " cv=" + stat.getCversion() + " av="
                + stat.getAversion() + " owner=" + names.sessionName(stat.getEphemeralOwner()) + " length="
                + stat.getDataLength() + " children=" + stat.getNumChildren()
                + (stat.getCtime() <= stat.getMtime() ? "" : " changed before it was created!") + "}";
    }
}
