package io.conclave.election;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.session.Registration;
import io.conclave.testkit.ManualTimeSource;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What an election promises to clients that observe it from outside. */
abstract class ElectionObserverContract extends ElectionHandOverContract {
    @Test
    void observerReceivesThePresentStateAndEveryLastingChange() throws Exception {
        Told told = new Told();
        Registration registration = electionOf(connect()).observe(told);
        told.awaitLast("-");
        Coordinator coordinator = connect();
        Leadership first = electionOf(coordinator, "first").campaign(PATIENCE);
        told.awaitLast("first");
        CompletableFuture<Leadership> second = electionOf(coordinator, "second").campaignAsync();
        awaitCandidates(coordinator, 2);
        first.close();
        Leadership next = get(second);
        told.awaitLast("second");
        next.close();
        told.awaitLast("-");
        assertTrue(
                Collections.indexOfSubList(List.of("-", "first", "-", "second", "-"), told.states) == 0
                        || told.states.equals(List.of("-", "first", "second", "-")),
                told.states::toString);
        registration.close();
        electionOf(coordinator, "third").campaign(PATIENCE).close();
        Told later = new Told();
        electionOf(coordinator).observe(later);
        later.awaitLast("-");
        assertFalse(told.states.contains("third"));
    }

    @Test
    void lateObserverReceivesThePresentLeader() throws Exception {
        Coordinator coordinator = connect();
        try (Leadership leadership = electionOf(coordinator, "early").campaign(PATIENCE)) {
            Told told = new Told();
            electionOf(connect()).observe(told);
            told.awaitLast("early");
            assertEquals(List.of("early"), told.states);
            assertTrue(leadership.isHeld());
        }
    }

    @Test
    void slowObserverSkipsStatesButNotTheLast() throws Exception {
        Semaphore mayReturn = new Semaphore(0);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Told told = new Told();
        electionOf(connect()).observe(leader -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            told.accept(leader);
            mayReturn.acquireUninterruptibly();
            inside.decrementAndGet();
        });
        told.awaitLast("-");
        Coordinator coordinator = connect();
        for (int i = 0; i < 5; i++) {
            electionOf(coordinator, "c" + i).campaign(PATIENCE).close();
        }
        try (Leadership last = electionOf(coordinator, "last").campaign(PATIENCE)) {
            mayReturn.release(100);
            told.awaitLast("last");
            assertTrue(last.isHeld());
        }
        assertEquals(1, most.get());
    }

    @Test
    void observerThatThrowsReceivesTheNextState() throws Exception {
        Told told = new Told();
        electionOf(connect()).observe(leader -> {
            told.accept(leader);
            ElectionObserverContract.<RuntimeException>sneak(new Exception("as Kotlin may throw it"));
        });
        told.awaitLast("-");
        try (Leadership leadership = electionOf(connect(), "next").campaign(PATIENCE)) {
            told.awaitLast("next");
            assertTrue(leadership.isHeld());
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> void sneak(Exception e) throws E {
        throw (E) e;
    }

    @Test
    void observerGoesOnAfterALostSession() throws Exception {
        Coordinator steady = connect(); // the store in memory goes by the clock of the first one
        ManualTimeSource clock = jumpingClock();
        Coordinator observing = opened(builder().timeSource(clock));
        Told told = new Told();
        electionOf(observing).observe(told);
        told.awaitLast("-");
        loseSession(observing, clock);
        Leadership leadership = electionOf(steady, "after").campaign(PATIENCE);
        told.awaitLast("after");
        loseSession(observing, clock);
        leadership.close();
        told.awaitLast("-");
    }

    @Test
    void dataThatAreNoLeaderRecordMeanNoLeader() throws Exception {
        assertEquals(Optional.empty(), LeaderRecord.parse(new byte[0]));
        assertEquals(Optional.empty(), LeaderRecord.parse("token=1:2 place=x".getBytes()));
        assertEquals(Optional.empty(), LeaderRecord.parse("token=1:2\nplace=x".getBytes()));
        assertEquals(Optional.empty(), LeaderRecord.parse("token=8000000000000000:2 place=x\n".getBytes()));
        assertEquals(
                new io.conclave.grant.FencingToken(1, 0x2a),
                LeaderRecord.parse("token=1:2a place=x\n".getBytes())
                        .orElseThrow()
                        .token());
        LeaderRecord record = new LeaderRecord(
                new io.conclave.grant.FencingToken(Long.MAX_VALUE, 77), "a-lock-0000000001", new byte[] {10, 0, -1});
        LeaderRecord read = LeaderRecord.parse(record.toBytes()).orElseThrow();
        assertEquals(record.token(), read.token());
        assertEquals(record.place(), read.place());
        org.junit.jupiter.api.Assertions.assertArrayEquals(record.data(), read.data());
    }
}
