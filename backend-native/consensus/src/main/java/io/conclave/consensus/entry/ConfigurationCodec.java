package io.conclave.consensus.entry;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The bytes of a configuration, as payload of its entry and in snapshots:
 *
 * <pre>
 *   version 1
 *   members 2, each: id 4 | directory 8 | host | peer port 4 | client host | client port 4 | observer 1
 *   voters 2, each: id 4
 *   outgoing 2, each: id 4
 *   leaving 2, each: id 4
 *   removed 2, each: id 4
 * </pre>
 *
 * Numbers are big-endian, hosts are modified UTF-8 behind two bytes of length ({@link DataOutputStream#writeUTF}).
 */
public final class ConfigurationCodec {
    private static final int VERSION = 1;

    private ConfigurationCodec() {}

    /** The configuration's bytes; equal ones have equal bytes. */
    public static byte[] encode(ClusterConfiguration configuration) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write(configuration, new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException("a configuration that cannot be written: " + configuration, e);
        }
        return bytes.toByteArray();
    }

    /**
     * The configuration that has these bytes.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static ClusterConfiguration decode(byte[] bytes) {
        try {
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
            ClusterConfiguration configuration = read(in);
            if (in.read() >= 0) {
                throw new IllegalArgumentException("bytes follow the configuration");
            }
            return configuration;
        } catch (IOException e) {
            throw new IllegalArgumentException("a configuration of " + bytes.length + " bytes ends too early", e);
        }
    }

    static void write(ClusterConfiguration configuration, DataOutputStream out) throws IOException {
        out.writeByte(VERSION);
        out.writeShort(configuration.members().size());
        for (EnsembleMember member : configuration.members().values()) {
            out.writeInt(member.id());
            out.writeLong(member.directory());
            out.writeUTF(member.host());
            out.writeInt(member.peerPort());
            out.writeUTF(member.clientHost());
            out.writeInt(member.clientPort());
            out.writeBoolean(member.observer());
        }
        writeIds(configuration.voters(), out);
        writeIds(configuration.outgoing(), out);
        writeIds(configuration.leaving(), out);
        writeIds(configuration.removed(), out);
    }

    private static void writeIds(Set<Integer> ids, DataOutputStream out) throws IOException {
        out.writeShort(ids.size());
        for (int id : ids) {
            out.writeInt(id);
        }
    }

    static ClusterConfiguration read(DataInputStream in) throws IOException {
        int version = in.readUnsignedByte();
        if (version != VERSION) {
            throw new IllegalArgumentException("a configuration of version " + version + "; known is " + VERSION);
        }
        Map<Integer, EnsembleMember> members = new TreeMap<>();
        int count = in.readUnsignedShort();
        for (int i = 0; i < count; i++) {
            EnsembleMember member = new EnsembleMember(
                    in.readInt(),
                    in.readLong(),
                    in.readUTF(),
                    in.readInt(),
                    in.readUTF(),
                    in.readInt(),
                    in.readBoolean());
            members.put(member.id(), member);
        }
        return new ClusterConfiguration(members, readIds(in), readIds(in), readIds(in), readIds(in));
    }

    private static Set<Integer> readIds(DataInputStream in) throws IOException {
        Set<Integer> ids = new TreeSet<>();
        int count = in.readUnsignedShort();
        for (int i = 0; i < count; i++) {
            ids.add(in.readInt());
        }
        return ids;
    }
}
