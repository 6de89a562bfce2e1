package io.conclave.consensus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CallersHandshakesTest {
    private final Queue<Runnable> threads = new ArrayDeque<>();
    private final CallersHandshakes handshakes = new CallersHandshakes(threads::add, 2);
    private final CallersHandshakes ofClients = CallersHandshakes.ofClients(threads::add, 2);
    private final List<String> done = new ArrayList<>();

    private void add(String address) {
        handshakes.of(address).execute(() -> done.add(address));
    }

    private void runAll() {
        for (Runnable thread = threads.poll(); thread != null; thread = threads.poll()) {
            thread.run();
        }
    }

    @Test
    void aMemberWaitsForOneOfEachAddressOfStrangers() {
        for (int i = 0; i < CallersHandshakes.MOST_OF_AN_ADDRESS; i++) {
            add("one");
            add("two");
        }
        add("member");
        assertEquals(2, threads.size(), "two at a time");
        runAll();
        assertEquals(List.of("one", "two", "member", "one"), done.subList(0, 4));
        assertEquals(2 * CallersHandshakes.MOST_OF_AN_ADDRESS + 1, done.size());
    }

    @Test
    void oneTooManyOfAnAddressIsRefusedAndNoneOfAnother() {
        for (int i = 0; i < CallersHandshakes.MOST_OF_AN_ADDRESS; i++) {
            add("one");
        }
        assertThrows(RejectedExecutionException.class, () -> add("one"));
        add("member");
        runAll();
        add("one");
        runAll();
        assertEquals(CallersHandshakes.MOST_OF_AN_ADDRESS + 2, done.size());
    }

    @Test
    void whereAllHaveTooManyAnAddressMayStillHaveItsFirst() {
        int addresses = CallersHandshakes.MOST / CallersHandshakes.MOST_OF_AN_ADDRESS;
        for (int i = 0; i < addresses; i++) {
            for (int j = 0; j < CallersHandshakes.MOST_OF_AN_ADDRESS; j++) {
                add("stranger " + i);
            }
        }
        add("member");
        assertThrows(RejectedExecutionException.class, () -> add("member"));
        for (int i = 1; i < CallersHandshakes.MOST; i++) {
            add("other " + i);
        }
        assertThrows(RejectedExecutionException.class, () -> add("one more"));
        runAll();
        assertEquals(2 * CallersHandshakes.MOST, done.size());
    }

    @Test
    void oneThatThrowsEndsNoOther() {
        handshakes.of("one").execute(() -> {
            throw new IllegalStateException("as a test has it");
        });
        add("one");
        runAll();
        add("one");
        runAll();
        assertEquals(List.of("one", "one"), done);
    }

    /** A handshake that has begun stays in the line when its connection goes, so a bound of connections is none. */
    @Test
    void aClientWaitsForOneOfAnAddressThatMakesAsManyAsItCan() {
        int most = fillAsClients("10.0.0.1");
        assertEquals(427, most);
        ofClients.of("10.0.0.2").execute(() -> done.add("client"));
        runAll();
        assertEquals(1, done.indexOf("client"));
        assertEquals(most + 1, done.size());
    }

    /** Many clients may share one address: an office, or what stands before a network of containers. */
    @Test
    void besideAnAddressThatMakesAsManyAsItCanAnotherOneHasManyPlaces() {
        fillAsClients("10.0.0.1");
        assertEquals(142, fillAsClients("10.0.0.2"));
        assertEquals(48, fillAsClients("10.0.0.3"));
    }

    @Test
    void besideManyAddressesThatMakeAsManyAsTheyCanAClientHasAPlace() {
        for (int i = 1; i <= 100; i++) {
            fillAsClients("10.0.0." + i);
        }
        ofClients.of("10.0.1.1").execute(() -> done.add("client"));
        runAll();
        assertEquals(100, done.indexOf("client"), "behind one of each");
    }

    /** A connection has one of them, so their number is that of connections, and they take nobody's place. */
    @Test
    void handshakesThatHaveBegunTakeNoPlaces() {
        for (int i = 0; i < 100; i++) {
            Executor begun = ofClients.of("10.0.0.1");
            begun.execute(() -> done.add("greeting"));
            runAll();
            begun.execute(() -> done.add("certificate"));
        }
        threads.clear();
        assertEquals(427, fillAsClients("10.0.0.2"));
    }

    @Test
    void aHandshakeThatHasBegunIsNotRefused() {
        Executor client = ofClients.of("10.0.0.1");
        client.execute(() -> done.add("greeting"));
        fillAsClients("10.0.0.1");
        client.execute(() -> done.add("certificate"));
        runAll();
        assertTrue(done.contains("certificate"));
    }

    @Test
    void whereNoThreadCanBeMadeTheNextOneMakesIt() {
        AtomicInteger fails = new AtomicInteger(2);
        CallersHandshakes unlucky = new CallersHandshakes(
                thread -> {
                    if (fails.getAndDecrement() > 0) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    threads.add(thread);
                },
                2);
        for (int i = 0; i < 2; i++) {
            assertThrows(OutOfMemoryError.class, () -> unlucky.of("10.0.0.1").execute(() -> done.add("first")));
        }
        unlucky.of("10.0.0.1").execute(() -> done.add("later"));
        runAll();
        assertEquals(List.of("first", "first", "later"), done);
    }

    /** How many were taken. */
    private int fillAsClients(String address) {
        for (int taken = 0; ; taken++) {
            try {
                ofClients.of(address).execute(() -> done.add(address));
            } catch (RejectedExecutionException full) {
                return taken;
            }
        }
    }

    @Test
    void theAddressesOfOneNetworkOfIpv6HaveOneLine() {
        for (int i = 0; i < CallersHandshakes.MOST_OF_AN_ADDRESS; i++) {
            handshakes.of("2001:db8::" + Integer.toHexString(i)).execute(() -> done.add("stranger"));
        }
        assertThrows(
                RejectedExecutionException.class,
                () -> handshakes.of("2001:db8::ffff").execute(() -> {}));
        handshakes.of("2001:db8:0:1::1").execute(() -> done.add("member"));
        runAll();
        assertEquals(1, done.indexOf("member"));
    }
}
