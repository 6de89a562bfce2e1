package io.conclave.discovery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JSON of an instance: as Curator has it, and whatever others make of it. */
class InstanceCodecTest {
    private static final ObjectMapper JACKSON = new ObjectMapper();

    /** As Curator 5.9.0 has written it. */
    private static final String CURATORS =
            "{\"name\":\"orders\",\"id\":\"7f3c\",\"address\":\"10.0.0.5\",\"port\":8080,\"sslPort\":null,"
                    + "\"payload\":{\"@class\":\"a.B\",\"k\":\"v\"},\"registrationTimeUTC\":1700000000000,"
                    + "\"serviceType\":\"DYNAMIC\",\"uriSpec\":{\"parts\":[{\"value\":\"scheme\",\"variable\":true},"
                    + "{\"value\":\"://\",\"variable\":false},{\"value\":\"address\",\"variable\":true}]}}";

    private static ServiceInstance decode(String json) {
        return InstanceCodec.JSON.decode(json.getBytes(UTF_8));
    }

    private static String encode(ServiceInstance instance) {
        return new String(InstanceCodec.JSON.encode(instance), UTF_8);
    }

    @Test
    void whatCuratorWritesIsReadAndWrittenTheSame() {
        ServiceInstance read = decode(CURATORS);
        assertEquals(
                ServiceInstance.named("orders")
                        .id("7f3c")
                        .address("10.0.0.5")
                        .port(8080)
                        .payload("{\"@class\":\"a.B\",\"k\":\"v\"}")
                        .registeredAt(Instant.ofEpochMilli(1_700_000_000_000L))
                        .uriSpec(UriSpec.of("{scheme}://{address}"))
                        .build(),
                read);
        assertEquals(Optional.of("http://10.0.0.5"), read.uri());
        assertEquals(CURATORS, encode(read));
    }

    @Test
    void instanceIsWrittenAsThePageShows() throws IOException {
        String page = Files.readString(Path.of("../docs/recipes/discovery.md"));
        String block = page.substring(page.indexOf("\n{\"name\""), page.indexOf("\n```\n\nBeside Curator"));
        ServiceInstance instance = ServiceInstance.named("orders")
                .id("7f3c")
                .address("10.0.0.5")
                .port(8080)
                .payload("{\"zone\":\"a\"}")
                .registeredAt(Instant.ofEpochMilli(1_700_000_000_000L))
                .build();
        assertEquals(block.replaceAll("\n *", ""), encode(instance)); // the page breaks the line
    }

    @Test
    void whatIsMissingNullUnknownOrInQuotesIsAccepted() {
        assertEquals("", decode(" { } ").name());
        ServiceInstance read = decode(
                "{\"a\":[1,{\"b\":null}],\"port\":\"80\",\"payload\":null,\"uriSpec\":{},\"serviceType\":\"NEW\","
                        + "\"registrationTimeUTC\":null,\"id\":null,\"enabled\":false,\"port\":\"81\"}");
        assertEquals(OptionalInt.of(81), read.port());
        assertEquals(Optional.empty(), read.payload());
        assertEquals(Optional.empty(), read.registeredAt());
        assertEquals("NEW", read.serviceType());
        assertEquals(Optional.of(""), read.uri());
        assertFalse(read.isEnabled());
        assertTrue(encode(read).endsWith(",\"enabled\":false}"));
        assertEquals(Optional.of("plain"), decode("{\"payload\":\"plain\"}").payloadText());
        assertEquals(Optional.empty(), decode("{\"payload\":7}").payloadText());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1,}",
                "{a:1}",
                "{\"a\":01}",
                "{\"a\":1.}",
                "{\"a\":1e}",
                "{\"a\":-}",
                "{\"a\":tru}",
                "{\"a\":\"\\x\"}",
                "{\"a\":\"\\u12g4\"}",
                "{\"a\":\"",
                "{\"a\":\"\n\"}",
                "{\"a\":[1 2]}",
                "{}}",
                "{} {}",
                "{\"port\":\"x\"}",
                "{\"port\":1.5}",
                "{\"port\":1e999999999}",
                "{\"port\":-1}",
                "{\"port\":4294967376}",
                "{\"registrationTimeUTC\":\"soon\"}",
                "{\"uriSpec\":[]}",
                "{\"uriSpec\":{\"parts\":{}}}"
            })
    void whatIsNoInstanceIsRefused(String json) {
        assertThrows(IllegalArgumentException.class, () -> decode(json));
    }

    @Test
    void depthIsBounded() {
        assertThrows(IllegalArgumentException.class, () -> decode("{\"a\":" + "[".repeat(100_000)));
        decode("{\"a\":" + "[".repeat(150) + "]".repeat(150) + "}");
        assertThrows(IllegalArgumentException.class, () -> ServiceInstance.named("a")
                .payload("[".repeat(1000) + "]".repeat(1000)));
        assertThrows(
                IllegalArgumentException.class, () -> ServiceInstance.named("a").payload("{"));
    }

    @Test
    void jacksonReadsWhatIsWrittenAndTheOtherWayRound() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 500; i++) {
            String text = anyText(random);
            ServiceInstance instance = ServiceInstance.named("orders")
                    .id(text)
                    .address("a" + text)
                    .payload(JACKSON.writeValueAsString(Map.of(text, new Object[] {random.nextInt(), text, 1e300})))
                    .uriSpec(UriSpec.of("{scheme}://" + text.replaceAll("[{}]", "") + "{[}"))
                    .build();
            byte[] json = InstanceCodec.JSON.encode(instance);
            Map<?, ?> read = JACKSON.readValue(json, Map.class);
            assertEquals(text, read.get("id"), "seed " + seed);
            assertEquals(instance, InstanceCodec.JSON.decode(json), "seed " + seed);
            ServiceInstance again = InstanceCodec.JSON.decode(JACKSON.writeValueAsBytes(read));
            assertEquals(text, again.id(), "seed " + seed);
            assertEquals(
                    JACKSON.readTree(instance.payload().orElseThrow()),
                    JACKSON.readTree(again.payload().orElseThrow()),
                    "seed " + seed);
        }
        assertEquals("\"\\ud800x\"", JsonText.quote("\ud800x"), "half of a pair");
    }

    private static String anyText(Random random) {
        StringBuilder text = new StringBuilder();
        int length = random.nextInt(8);
        for (int i = 0; i < length; i++) {
            int code = random.nextInt(10) < 6 ? random.nextInt(128) : random.nextInt(0x110000);
            boolean isHalf = code >= Character.MIN_SURROGATE && code <= Character.MAX_SURROGATE;
            text.appendCodePoint(isHalf ? '"' : code);
        }
        return text.toString();
    }

    @Test
    void templatesOfUris() {
        ServiceInstance one = ServiceInstance.named("orders")
                .id("a")
                .address("h")
                .port(80)
                .sslPort(443)
                .registeredAt(Instant.ofEpochMilli(5))
                .build();
        assertEquals(
                "https://h:80/orders/a/443/5/dynamic{}",
                UriSpec.of("{scheme}://{ address }:{port}/{name}/{id}/{ssl-port}/"
                                + "{registration-time-utc}/{service-type}{[}{]}{unknown}")
                        .uriOf(one));
        for (String wrong : new String[] {"{", "}", "{a{b}}", "a}b", "{}", "{ }"}) {
            assertThrows(IllegalArgumentException.class, () -> UriSpec.of(wrong), wrong);
        }
    }
}
