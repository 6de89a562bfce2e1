package io.conclave.queues;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Names of items have digits that every client reads, whatever digits the machine's users read. */
@Isolated("sets the default locale")
class ItemNameLocaleTest {
    @Test
    void itemsThatAreNamedWhereDigitsAreNotAsciiAreRead() {
        Locale before = Locale.getDefault();
        try {
            for (String tag : List.of("fa-IR", "ar-EG", "ar-EG-u-nu-arab", "th-TH-u-nu-thai")) {
                Locale.setDefault(Locale.forLanguageTag(tag));
                String urgent = ItemName.toCreate("a", 7) + "0000000012";
                assertEquals("_c_a-queue-07-0000000012", urgent, tag);
                assertEquals(Optional.of(new ItemName(urgent, 7, 12)), ItemName.parse(urgent), tag);
                assertEquals("queue-a-|00001234|", ItemName.toCreateDelayed("a", 0x1234), tag);
            }
        } finally {
            Locale.setDefault(before);
        }
    }
}
