package io.conclave.consensus.core;

import io.conclave.consensus.core.Faults.Kind;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * What a seed draws for its whole run: sizes, times, which faults there are, how often, and at which moments. Few kinds
 * at a time go deeper than a little of everything (Groce et al., Swarm Testing, ISSTA 2012).
 */
final class Schedule {
    /** Faults that belong together; a seed has those of one theme and some others. */
    private enum Theme {
        ANYTHING,
        /** Leaders that are cut off before anybody hears of them: figure 8 of the Raft paper. */
        LONELY_LEADERS,
        /** Candidates of one term, and voters that die when they vote. */
        CONTESTED_ELECTIONS,
        /** Changes of the voters, with the cluster divided into the voters to be and the rest. */
        MEMBERSHIP,
        /** Logs that lose their end, and leaders that start anew meanwhile. */
        LOST_TAILS,
        /** The same on slow disks, with acknowledgements that arrive when what they speak of is lost. */
        LATE_ANSWERS,
        /** Directories that are lost. */
        LOST_DIRECTORIES,
        /** Members that lag, short logs in memory, and snapshots that come twice. */
        SNAPSHOTS;

        private Set<Kind> kinds() {
            return switch (this) {
                case ANYTHING -> EnumSet.noneOf(Kind.class);
                case LONELY_LEADERS -> EnumSet.of(Kind.TRANSFER);
                case CONTESTED_ELECTIONS -> EnumSet.of(Kind.CRASH, Kind.RIVALS);
                case MEMBERSHIP -> EnumSet.of(Kind.MEMBERSHIP);
                case LOST_TAILS -> EnumSet.of(Kind.TORN);
                case LATE_ANSWERS -> EnumSet.of(Kind.TORN, Kind.DROPPED_LINK);
                case LOST_DIRECTORIES -> EnumSet.of(Kind.WIPE, Kind.PARTITION);
                case SNAPSHOTS -> EnumSet.of(Kind.MESSAGES, Kind.ONE_WAY);
            };
        }

        private Set<Moment> moments() {
            return switch (this) {
                case ANYTHING -> EnumSet.noneOf(Moment.class);
                case LONELY_LEADERS -> EnumSet.of(Moment.LEADS);
                case CONTESTED_ELECTIONS -> EnumSet.of(Moment.VOTES);
                case MEMBERSHIP -> EnumSet.of(Moment.CONFIGURED);
                case LOST_TAILS -> EnumSet.of(Moment.WRITES);
                case LATE_ANSWERS -> EnumSet.of(Moment.ANSWERS_ANEW);
                case LOST_DIRECTORIES, SNAPSHOTS -> EnumSet.of(Moment.WRITES);
            };
        }
    }

    final int timeoutMs;
    final int members;
    final int voters;
    final int strangers;
    /** A few election timeouts with many faults, and mostly no recovery after it. */
    private final boolean isBrief;

    private final Theme theme;
    final boolean ends;
    final long lifeMs;
    final int proposalMs;
    final int meanFaultMs;
    final int appendBytes;
    final int delayMs;
    final int lossPermille;
    final int doublePermille;
    final int reorderPermille;
    final int remakingMs;
    final int lingeringMs;
    final int writeMs;
    /** As the real shell does it; otherwise at every turn. */
    final boolean ticksWhenDue;

    final Set<Kind> kinds;
    private final Map<Moment, Integer> permilleAt = new EnumMap<>(Moment.class);

    Schedule(SplittableRandom random) {
        isBrief = random.nextInt(8) != 0;
        theme = isBrief ? Theme.values()[random.nextInt(Theme.values().length)] : Theme.ANYTHING;
        boolean late = theme == Theme.LATE_ANSWERS;
        ends = !isBrief || late || random.nextInt(8) == 0;
        timeoutMs = isBrief ? 100 : one(random, 100, 250, 1_000);
        members = isBrief ? one(random, 3, 3, 3, 4, 5) : one(random, 1, 2, 3, 3, 3, 3, 4, 5, 5);
        boolean loses = late || theme == Theme.LOST_TAILS; // of two voters none may
        voters = Math.max(1, members - (loses ? 0 : one(random, 0, 0, 0, 1, 1, 2)));
        strangers = isBrief ? random.nextInt(2) : Math.min(6 - members, 2);
        int atLeast = theme == Theme.LONELY_LEADERS ? 15 : 4;
        lifeMs = timeoutMs * (isBrief ? atLeast + random.nextInt(16) : 5L + random.nextInt(40));
        proposalMs = timeoutMs / one(random, 10, 3, 1);
        meanFaultMs = timeoutMs / 20 + random.nextInt(random.nextBoolean() ? timeoutMs / 5 : 3 * timeoutMs / 2);
        appendBytes = theme == Theme.LONELY_LEADERS || theme == Theme.LOST_TAILS
                ? one(random, 1, 300)
                : one(random, 1, 300, 1 << 16);
        kinds = drawKinds(random);
        drawMoments(random);
        boolean messages = kinds.contains(Kind.MESSAGES);
        lossPermille = messages ? random.nextInt(3) * random.nextInt(60) : 0;
        doublePermille = messages ? random.nextInt(3) * random.nextInt(60) : 0;
        reorderPermille = messages ? random.nextInt(2) * random.nextInt(60) : 0;
        delayMs = 1 + random.nextInt(Math.max(3, timeoutMs / one(random, late ? 10 : 100, 10, 3)));
        remakingMs = one(random, late ? timeoutMs / 2 : 4, 30, timeoutMs / 2);
        lingeringMs = one(random, late ? timeoutMs : 1, 10, timeoutMs);
        ticksWhenDue = random.nextInt(4) != 0;
        boolean slow = late || kinds.contains(Kind.SLOW_DISK);
        writeMs = slow && random.nextBoolean() ? timeoutMs / 10 + random.nextInt(timeoutMs / 3) : 0;
    }

    private static int one(SplittableRandom random, int... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private Set<Kind> drawKinds(SplittableRandom random) {
        Set<Kind> drawn = theme.kinds();
        for (Kind kind : List.of(Kind.values())) {
            if (random.nextInt(10) < (theme == Theme.ANYTHING ? 4 : 2)) {
                drawn.add(kind);
            }
        }
        return drawn;
    }

    private void drawMoments(SplittableRandom random) {
        for (Moment moment : Moment.values()) {
            int permille = one(random, 0, 0, 0, 1) * random.nextInt(isBrief ? 300 : 50);
            if (theme.moments().contains(moment)) {
                permille = 200 + random.nextInt(700);
            }
            // a member writes all the time
            permilleAt.put(moment, moment == Moment.WRITES ? permille / 8 : permille);
        }
    }

    int permilleAt(Moment moment) {
        return permilleAt.get(moment);
    }
}
