package io.conclave.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.node.NodePath;
import io.conclave.spi.ConnectString.Endpoint;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectStringTest {
    @Test
    void serversPortsAndChroot() {
        ConnectString parsed = ConnectString.parse("Conclave://h1:2182,h2,[::1]:2183,[fe80::2]/app/one");
        assertEquals("conclave", parsed.scheme());
        assertEquals(
                List.of(
                        new Endpoint("h1", 2182),
                        new Endpoint("h2", 2181),
                        new Endpoint("::1", 2183),
                        new Endpoint("fe80::2", 2181)),
                parsed.endpoints());
        assertEquals(NodePath.of("/app/one"), parsed.chroot());
        assertEquals("[::1]:2183", parsed.endpoints().get(2).toString());
    }

    @Test
    void withoutServersWhatFollowsIsTheBackendsBusiness() {
        assertEquals("", ConnectString.parse("embedded:").path());
        ConnectString durable = ConnectString.parse("embedded:/var/lib/app");
        assertEquals("/var/lib/app", durable.path());
        assertEquals(NodePath.ROOT, durable.chroot());
        assertEquals(NodePath.ROOT, ConnectString.parse("zookeeper://h").chroot());
        assertEquals(NodePath.ROOT, ConnectString.parse("zookeeper://h/").chroot());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|scheme",
                "h1|scheme",
                ":x|scheme",
                "conclave://|host name",
                "conclave:///app|host name",
                "conclave://h1,,h2|host name",
                "conclave://h1:|port",
                "conclave://h1:0|port",
                "conclave://h1:65536|port",
                "conclave://h1:-1|port",
                "conclave://h1:2181:2|port",
                "conclave://h1:port|port",
                "conclave://h 1:2181|host name",
                "conclave://h1/a/|chroot",
                "conclave://h1/a//b|chroot",
            })
    void badOnesAreRefusedByName(String text, String rule) {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> ConnectString.parse(text));
        assertTrue(refusal.getMessage().contains("\"" + text + "\""), refusal::getMessage);
        assertTrue(refusal.getMessage().contains(rule), refusal::getMessage);
    }

    @Test
    void theZoneOfAnAddressIsKept() {
        ConnectString parsed = ConnectString.parse("conclave://[fe80::1%25eth0]:2182,[fe80::2%eth0],[fe80::3%25]");
        assertEquals("fe80::1%eth0", parsed.endpoints().get(0).host());
        assertEquals("fe80::2%eth0", parsed.endpoints().get(1).host());
        assertEquals("fe80::3%25", parsed.endpoints().get(2).host(), "the number of an interface");
        assertEquals("[fe80::1%eth0]:2182", parsed.endpoints().get(0).toString());
    }
}
