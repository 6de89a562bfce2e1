package io.conclave.proofs.campaign;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** What befalls an ensemble; {@link Ensemble#heal} ends each of them. */
enum Fault {
    KILL_LEADER {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) throws InterruptedException {
            leader.kill();
            return leader.toString();
        }
    },
    KILL_FOLLOWER {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) throws InterruptedException {
            Member follower = oneOf(ensemble.others(leader), random);
            follower.kill();
            return follower.toString();
        }
    },
    /** So many at once that the rest is no majority. */
    KILL_MAJORITY {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) throws InterruptedException {
            List<Member> members = new ArrayList<>(ensemble.members());
            Collections.shuffle(members, random);
            List<Member> killed = members.subList(0, members.size() / 2 + 1);
            for (Member member : killed) {
                member.kill();
            }
            return killed.toString();
        }
    },
    KILL_ALL {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) throws InterruptedException {
            for (Member member : ensemble.members()) {
                member.kill();
            }
            return "";
        }
    },
    STOP_LEADER_IN_ORDER {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) throws InterruptedException {
            leader.terminate();
            return leader.toString();
        }
    },
    PAUSE_LEADER {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) {
            leader.pause();
            return leader.toString();
        }
    },
    PAUSE_FOLLOWER {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) {
            Member follower = oneOf(ensemble.others(leader), random);
            follower.pause();
            return follower.toString();
        }
    },
    ISOLATE_LEADER {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) {
            ensemble.isolate(leader);
            return leader.toString();
        }
    },
    ISOLATE_FOLLOWER {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) {
            Member follower = oneOf(ensemble.others(leader), random);
            ensemble.isolate(follower);
            return follower.toString();
        }
    },
    /** It hears the others, and they do not hear it. */
    MUTE_LEADER {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) {
            ensemble.others(leader).forEach(other -> ensemble.cut(leader, other));
            return leader.toString();
        }
    },
    /** They hear it, and it does not hear them. */
    DEAFEN_LEADER {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) {
            ensemble.others(leader).forEach(other -> ensemble.cut(other, leader));
            return leader.toString();
        }
    },
    /** One link, one way. */
    CUT_ONE_WAY {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) {
            Member from = oneOf(ensemble.members(), random);
            Member to = oneOf(ensemble.others(from), random);
            ensemble.cut(from, to);
            return from + " to " + to;
        }
    },
    /** Everything between the members arrives later. */
    DELAY_ALL {
        @Override
        String strike(Ensemble ensemble, Member leader, Random random) {
            Duration delay = Duration.ofMillis(5 + random.nextInt(60));
            boolean delayed = true;
            for (Member from : ensemble.members()) {
                for (Member to : ensemble.others(from)) {
                    delayed &= ensemble.delay(from, to, delay);
                }
            }
            return delayed ? "by " + delay.toMillis() + " ms" : "is not possible here";
        }
    };

    /** Does it; returns the affected server. */
    abstract String strike(Ensemble ensemble, Member leader, Random random) throws InterruptedException;

    private static Member oneOf(List<Member> members, Random random) {
        return members.get(random.nextInt(members.size()));
    }
}
