package io.conclave.spring.cloud;

import io.conclave.discovery.JsonText;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The payload that Spring Cloud ZooKeeper writes and reads: its {@code ZookeeperInstance}, named by its class. */
final class InstancePayload {
    static final String STATUS = "instance_status";
    static final String UP = "UP";
    private static final String TYPE = "org.springframework.cloud.zookeeper.discovery.ZookeeperInstance";

    private InstancePayload() {}

    /** The payload of an application. */
    static String json(String applicationId, String name, Map<String, String> metadata) {
        String members = metadata.entrySet().stream()
                .map(entry -> JsonText.quote(entry.getKey()) + ":" + JsonText.quote(entry.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
        return "{\"@class\":" + JsonText.quote(TYPE) + ",\"id\":" + JsonText.quote(applicationId) + ",\"name\":"
                + JsonText.quote(name) + ",\"metadata\":" + members + "}";
    }

    /** The metadata of a payload; none if it is made in another way. What is no text is given as its JSON. */
    static Map<String, String> metadata(Optional<String> payload) {
        Map<String, String> metadata = new LinkedHashMap<>();
        try {
            payload.map(JsonText::members)
                    .map(members -> members.get("metadata"))
                    .map(JsonText::members)
                    .ifPresent(members -> members.forEach((name, value) ->
                            metadata.put(name, JsonText.string(value).orElse(value))));
        } catch (IllegalArgumentException notOurs) {
            return Map.of();
        }
        return metadata;
    }
}
