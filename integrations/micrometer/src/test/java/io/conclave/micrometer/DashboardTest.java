package io.conclave.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.conclave.coordinator.Coordinator;
import io.conclave.metrics.Outcome;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Dashboard and page have what there is: with the names of docs/metrics.md, as Prometheus sees them. */
class DashboardTest {
    private static final Path METRICS = Path.of("../../docs/metrics.md");
    private static final Path DASHBOARD = Path.of("../micrometer/grafana/conclave-applications.json");
    private static final Path PAGE = Path.of("../../docs/integrations/micrometer.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (`[^|]+`) \\| (count|duration) \\|");
    private static final Pattern PREFIX = Pattern.compile("(?m)^\\| `([a-z.]+)` \\| (?!count|duration)[^|]+\\|$");
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");
    private static final Pattern NAMED_BY_THE_PAGE = Pattern.compile("`(conclave[._][a-z._]*[a-z])`");
    private static final Pattern QUERIED = Pattern.compile("conclave_[a-z_]+");
    private static final Pattern LABEL = Pattern.compile("by \\(([a-z]+)\\)|\\{\\{([a-z]+)}}");

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ConclaveMetrics metrics = new ConclaveMetrics();

    @Test
    void everyMetricThatTheDashboardQueriesExists() throws IOException {
        String scraped = scrapeAll();
        String dashboard = Files.readString(DASHBOARD);
        Set<String> unknown = new TreeSet<>();
        int queries = 0;
        for (Matcher queried = QUERIED.matcher(dashboard); queried.find(); queries++) {
            if (!Pattern.compile("(?m)^" + queried.group() + "[{ ]")
                    .matcher(scraped)
                    .find()) {
                unknown.add(queried.group());
            }
        }
        assertEquals(Set.of(), unknown);
        assertTrue(queries > 25, "too few metrics were found to prove anything: " + queries);
        for (Matcher label = LABEL.matcher(dashboard); label.find(); ) {
            String name = label.group(1) == null ? label.group(2) : label.group(1);
            assertTrue(Set.of("name", "state", "instance").contains(name), name);
        }
    }

    /** All meters with all their tags. */
    private String scrapeAll() throws IOException {
        registry.config().onMeterRegistrationFailed((id, reason) -> {
            throw new AssertionError(id + ": " + reason);
        });
        metrics.bindTo(registry);
        tellAll(Files.readString(METRICS));
        try (Coordinator coordinator = Coordinator.connect("memory:" + UUID.randomUUID())) {
            new CoordinatorMetrics(coordinator).bindTo(registry);
            return registry.scrape();
        }
    }

    @Test
    void metersAndKeysThatThePageNamesExist() throws IOException {
        String scraped = scrapeAll();
        Set<String> known = new TreeSet<>();
        registry.getMeters().forEach(meter -> known.add(meter.getId().getName()));
        for (ConclaveObservationDocumentation kind : ConclaveObservationDocumentation.values()) {
            known.add(kind.getName());
            Stream.of(kind.getEvents()).forEach(event -> known.add(event.getName()));
            Stream.of(kind.getLowCardinalityKeyNames(), kind.getHighCardinalityKeyNames())
                    .flatMap(Stream::of)
                    .forEach(key -> known.add(key.asString()));
        }
        Set<String> unknown = new TreeSet<>();
        int named = 0;
        for (Matcher name = NAMED_BY_THE_PAGE.matcher(Files.readString(PAGE)); name.find(); named++) {
            String found = name.group(1);
            if (!known.contains(found) && !scraped.contains("\n" + found + "{")) {
                unknown.add(found);
            }
        }
        assertEquals(Set.of(), unknown);
        assertTrue(named > 15, "the names were not found");
    }

    @Test
    void dashboardIsJsonWhosePanelsHaveIdsOfTheirOwnAndQueries() throws IOException {
        JsonNode dashboard = new ObjectMapper()
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .readTree(Files.readString(DASHBOARD));
        JsonNode panels = dashboard.path("panels");
        assertTrue(panels.size() > 15, () -> "too few panels: " + panels.size());
        Set<Integer> ids = new TreeSet<>();
        for (JsonNode panel : panels) {
            String title = panel.path("title").asText();
            assertTrue(ids.add(panel.path("id").asInt()), title + " has the id of another panel");
            boolean hasQueries = !panel.path("targets").isEmpty();
            assertEquals(!"row".equals(panel.path("type").asText()), hasQueries, title);
            for (JsonNode query : panel.path("targets")) {
                assertFalse(query.path("expr").asText().isBlank(), title);
            }
        }
    }

    private void tellAll(String text) {
        Set<String> prefixes = new TreeSet<>();
        for (Matcher prefix = PREFIX.matcher(text); prefix.find(); ) {
            prefixes.add(prefix.group(1));
        }
        int told = 0;
        for (Matcher row = ROW.matcher(text); row.find(); told++) {
            for (Matcher name = NAME.matcher(row.group(1)); name.find(); ) {
                boolean isDuration = row.group(2).equals("duration");
                if (name.group(1).startsWith("<prefix>")) {
                    prefixes.forEach(prefix -> tell(name.group(1).replace("<prefix>", prefix), isDuration));
                } else {
                    tell(name.group(1), isDuration);
                }
            }
        }
        assertTrue(told > 30 && prefixes.contains("semaphore.admission"), "docs/metrics.md was not understood");
    }

    private void tell(String name, boolean isDuration) {
        if (isDuration) {
            metrics.begin(name, "/path").end(Outcome.GRANTED);
            metrics.duration(name, "/path", Duration.ofMillis(1));
        } else {
            metrics.count(name, "/path");
        }
    }
}
