package io.conclave.election;

/** What is to be done while a candidate leads; see {@link LeaderElection#runWhileLeader}. */
@FunctionalInterface
public interface LeaderWork {
    /**
     * Does the work; when it returns, the leader resigns and campaigns again. Called on a thread that is interrupted
     * when the leadership is lost or the candidacy is closed; then it should return soon, because there is no new
     * campaign before.
     *
     * @param leadership given for the length of the call; the work may resign early, or hand over
     * @throws Exception is logged and counted; the next campaign begins after a pause
     */
    void run(Leadership leadership) throws Exception;
}
