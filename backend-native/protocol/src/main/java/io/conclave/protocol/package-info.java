/**
 * The ZooKeeper wire protocol: bytes to records and back, nothing else. No sockets, threads, clocks or state live here.
 *
 * <p>A frame is a length and a payload ({@link io.conclave.protocol.Frames}). A request's payload is a
 * {@link io.conclave.protocol.RequestHeader} and a {@link io.conclave.protocol.RequestBody}, an answer's a
 * {@link io.conclave.protocol.ReplyHeader} and, if there is no error, the {@link io.conclave.protocol.ReplyBody} that
 * belongs to the request's {@link io.conclave.protocol.OpCode}. Only the first frame of each side differs:
 * {@link io.conclave.protocol.ConnectRequest} and {@link io.conclave.protocol.ConnectResponse}.
 *
 * <p><b>Null.</b> The wire can carry null for strings, buffers and vectors. Buffers keep it (a node without data is not
 * a node with empty data). A null string is read as the empty string and a null vector as the empty list: no operation
 * gives the two a different meaning, and where the protocol wants a path or an ACL, both are refused.
 *
 * <p><b>Sharing.</b> Arrays and lists given to a record are not copied: the caller gives them up. Lists that come out
 * of a decoder cannot be modified. The equality of a record with a byte array is that of the array's identity.
 *
 * <p><b>Numbers the other side chose</b> (operation, error, flags, modes) stay ints in the records, because the other
 * side may know more of them than we do; the enums look them up.
 */
@NullMarked
package io.conclave.protocol;

import org.jspecify.annotations.NullMarked;
