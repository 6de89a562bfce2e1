package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Mistakes that the simulation must find: in the rules, or in the shell ({@link SimulatedMember} asks for those by
 * name).
 */
enum Mistake {
    NONE,
    /** Shell: answers leave before the vote is durable, and a crash in between loses the vote. */
    VOTE_NOT_PERSISTED,
    /** Shell: batches are called durable before they are. */
    ACKNOWLEDGED_BEFORE_DURABLE,
    STALE_SNAPSHOT_INSTALLED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean wantsSnapshot(long lastIndex, long lastTerm, long commitIndex, LogWindow log) {
                    return true;
                }
            };
        }
    },
    OLDER_TERM_COMMITTED_BY_COUNTING {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean mayCommit(long entryTerm, long term) {
                    return true;
                }
            };
        }
    },
    NOT_CUT_ON_CONFLICT {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean mustCut(LogBatch ours, LogBatch leaders) {
                    return false;
                }
            };
        }
    },
    LOG_NOT_COMPARED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean isUpToDate(VoteRequest request, long lastIndex, long lastTerm) {
                    return true;
                }
            };
        }
    },
    SHORTER_LOG_OF_SAME_TERM_ELECTED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean isUpToDate(VoteRequest request, long lastIndex, long lastTerm) {
                    return request.lastTerm() >= lastTerm;
                }
            };
        }
    },
    VOTED_TWICE {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean mayVoteFor(int candidate, int votedFor) {
                    return true;
                }
            };
        }
    },
    READ_INDEX_WITHOUT_MAJORITY {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean isLeadershipConfirmed(ClusterConfiguration configuration, IntPredicate acknowledged) {
                    return true;
                }
            };
        }
    },
    READ_INDEX_BEFORE_TERM_COMMITTED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean mayBeginReadIndex(boolean termCommitted) {
                    return true;
                }
            };
        }
    },
    VOTERS_CHANGED_WITHOUT_JOINT {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean needsJoint(ClusterConfiguration current, ClusterConfiguration target) {
                    return false;
                }
            };
        }
    },
    WIPED_VOTER_COUNTED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean countsAsVoter(long configuredDirectory, long shownDirectory) {
                    return configuredDirectory != 0;
                }

                @Override
                boolean isAsked(long voterDirectory, long ownDirectory) {
                    return true;
                }
            };
        }
    },
    PROVISIONAL_VOTES_COUNTED_AS_COMPLETE {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean isElected(ClusterConfiguration configuration, Set<Integer> complete, Set<Integer> provisional) {
                    Set<Integer> all = new HashSet<>(complete);
                    all.addAll(provisional);
                    return super.isElected(configuration, all, Set.of());
                }
            };
        }
    },
    /** A candidate that has led at any time counts every provisional vote as a complete one. */
    VOUCHED_FOR_ANY_TERM {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean vouches(long ledTerm, long doubtTerm) {
                    return true;
                }
            };
        }
    },
    /** Found where a tail is torn while others are down, and the leader lives on: in the simulation of members. */
    NEVER_VOUCHED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean vouches(long ledTerm, long doubtTerm) {
                    return false;
                }
            };
        }
    },
    /** Found where messages have such terms: in the simulation of members. */
    ANY_TERM_BELIEVED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean isPlausible(long term, long own) {
                    return true;
                }
            };
        }
    },
    /** Found where disks are set back to an older state: in the simulation of members. */
    COMMITTED_NOT_COMPARED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean differsFromCommitted(LogBatch leaders, LogWindow ours) {
                    return false;
                }

                @Override
                boolean differsFromCommitted(long previousIndex, long previousTerm, LogWindow ours) {
                    return false;
                }

                @Override
                boolean isTooEarly(LogBatch leaders, long term, long committedBeforeTerm) {
                    return false;
                }

                @Override
                boolean isBeyond(long matchIndex, long lastIndex) {
                    return false;
                }
            };
        }
    },
    /** The only voter does not ask the members that it lists. Found where disks are set back to an older state. */
    LEADS_ALONE_AT_ONCE {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean mayLeadAlone(boolean heardAll, boolean patienceIsOver) {
                    return true;
                }
            };
        }
    },
    /**
     * One member's claim that the disk was set back is enough. Found where a member lies, in the simulation of members.
     */
    ONE_CLAIM_BELIEVED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean mayGiveUpLog(
                        ClusterConfiguration configuration, int self, Set<Integer> voters, Set<Integer> later) {
                    return true;
                }
            };
        }
    },
    /** A log is never given up. Found where disks are set back to an older state. */
    LOG_NEVER_GIVEN_UP {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean mayGiveUpLog(
                        ClusterConfiguration configuration, int self, Set<Integer> voters, Set<Integer> later) {
                    return false;
                }
            };
        }
    },
    /** A member whose disk is said to have been set back goes on. Found where disks are set back. */
    SUSPECTED_TAKES_PART {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean takesPart(boolean suspected) {
                    return true;
                }
            };
        }
    },
    CAUGHT_UP_AT_ANY_COMMIT_INDEX {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean hasCaughtUp(long toldCommitIndex, long termOfThat, long term, long durableIndex) {
                    return toldCommitIndex <= durableIndex;
                }
            };
        }
    },
    ACKNOWLEDGEMENTS_OF_FORMER_LINK_COUNTED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean isOfThisLink(long round, long firstRoundOfLink) {
                    return true;
                }
            };
        }
    },
    /** A member that was cut off or removed deposes the leader when it comes back. */
    DEPOSED_BY_WHO_COMES_BACK {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean asksBeforeVotes() {
                    return false;
                }
            };
        }
    },
    /** A member whose state is still being read stands for election. */
    STOOD_WITHOUT_STATE {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean mayStand(boolean hasState) {
                    return true;
                }
            };
        }
    },
    /** Shell: a member applies, and serves, before its state is read. */
    APPLIED_WITHOUT_STATE {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean mayApply(boolean hasState) {
                    return true;
                }
            };
        }
    },
    LEADER_NOT_DEFENDED {
        @Override
        Rules rules() {
            return new Rules() {
                @Override
                boolean asksBeforeVotes() {
                    return false;
                }

                @Override
                boolean refusesForLeader(boolean hearsLeader, boolean transfer) {
                    return false;
                }
            };
        }
    };

    Rules rules() {
        return Rules.RAFT;
    }
}
