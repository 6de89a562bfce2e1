package io.conclave.spi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.cache.CachedNode;
import io.conclave.node.Bytes;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Requests and answers with data compare by value, and keep what they were given. */
class DataRecordsTest {
    private static final NodePath PATH = NodePath.of("/a");
    private static final NodeStat STAT = new NodeStat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);

    @Test
    void writesOfTheSameDataAreEqual() {
        assertComparesByValue(data -> SetData.of(PATH, data).withVersion(3));
        assertComparesByValue(data -> Create.of(PATH).withData(data));
    }

    @Test
    void answersWithTheSameDataAreEqual() {
        assertComparesByValue(data -> new GetData.NodeData(data, STAT));
        assertComparesByValue(data -> new CachedNode(PATH, data, STAT));
        assertComparesByValue(data -> new Authentication("digest", data));
    }

    private static void assertComparesByValue(Function<byte[], Object> record) {
        assertEquals(record.apply(bytes("one")), record.apply(bytes("one")));
        assertEquals(
                record.apply(bytes("one")).hashCode(),
                record.apply(bytes("one")).hashCode());
        assertNotEquals(record.apply(bytes("one")), record.apply(bytes("two")));
        assertFalse(record.apply(bytes("secret")).toString().contains("secret"));
    }

    @Test
    void aWriteKeepsItsDataWhenTheCallerChangesTheArray() {
        byte[] given = bytes("one");
        SetData set = SetData.of(PATH, given);
        Create create = Create.of(PATH).withData(given);
        given[0] = 'X';
        assertArrayEquals(bytes("one"), set.data());
        assertArrayEquals(bytes("one"), create.data());
    }

    @Test
    void anAnswerKeepsItsDataWhenTheCallerChangesWhatItWasHanded() {
        GetData.NodeData node = new GetData.NodeData(bytes("one"), STAT);
        node.data()[0] = 'X';
        node.bytes().toArray()[0] = 'X';
        assertArrayEquals(bytes("one"), node.data());
        assertTrue(node.bytes().buffer().isReadOnly());
    }

    @Test
    void aRequestIsCopiedOnceHoweverItIsChanged() {
        Create first = Create.of(PATH).withData(bytes("one"));
        Create inNamespace =
                first.withMode(io.conclave.node.CreateMode.EPHEMERAL).within(NodePath.of("/n"));
        assertSame(first.bytes(), inNamespace.bytes());
        SetData set = SetData.of(PATH, bytes("one"));
        assertSame(set.bytes(), set.withVersion(7).within(NodePath.of("/n")).bytes());
    }

    @Test
    void bytesSayHowManyTheyAreAndNothingElse() {
        assertEquals("3 bytes", Bytes.copyOf(bytes("one")).toString());
        assertEquals("one", Bytes.ofText("one").text());
        assertSame(Bytes.empty(), Bytes.copyOf(new byte[0]));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
