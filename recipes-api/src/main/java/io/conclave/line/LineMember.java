package io.conclave.line;

import io.conclave.node.Bytes;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;

/**
 * Somebody in a line, as others see him.
 *
 * @param path his znode
 * @param kind as what he stands there
 * @param bytes what he left for others to see
 * @param stat his znode's stat: its owner is his session, its czxid his token's zxid, its ctime when he came
 */
public record LineMember(NodePath path, EntryKind kind, Bytes bytes, NodeStat stat) {}
