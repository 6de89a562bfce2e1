package io.conclave.line;

import io.conclave.node.Bytes;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;

/**
 * A contender in a line, as others see it.
 *
 * @param path its znode
 * @param kind the kind of its place
 * @param bytes what it left for others to see
 * @param stat its znode's stat: the owner is its session, the czxid its token's sequence, the ctime when it came
 */
public record LineMember(NodePath path, EntryKind kind, Bytes bytes, NodeStat stat) {}
