package io.conclave.proofs.attacks;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The campaign of {@code scripts/hostile-clients}. It measures, and fails if one of our servers ends, a request of
 * others fails, or the p99 of others is beyond {@code hostile.times} that beside a {@link Burner}, if that is given.
 */
@Tag("long")
class HostileCampaignIT {
    @Test
    void allAttacksInRandomOrder() throws Exception {
        HostileCampaign.main(new String[] {
            System.getProperty("hostile.servers", "conclave"),
            System.getProperty("hostile.minutes", "60"),
            System.getProperty("hostile.seconds", "10"),
            System.getProperty("hostile.connections", "4"),
            System.getProperty("hostile.seed", Long.toString(System.nanoTime()))
        });
    }
}
