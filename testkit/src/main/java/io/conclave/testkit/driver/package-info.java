/**
 * The fault driver: repeats a recipe's run once for every request and every fault, and checks that nothing is left
 * behind, nothing is lost, and no actor holds what another holds.
 *
 * <p>A fault test of a recipe is a {@link io.conclave.testkit.driver.Scenario}: it names the participants and what they
 * do. The faults meet the victim only. Here it waits for a lock that a helper holds, and another helper waits behind
 * it:
 *
 * <pre>{@code
 * @Test
 * void waiter() {
 *     FaultDriver.of("lock, waiter", run -> {
 *         Actor first = run.helper("first");
 *         Holding held = first.granted(lock(first).acquire());
 *         run.victim().start(me -> me.hold(lock(me).acquire()));
 *         run.untilAtRest();                                        // the victim stands in line, or has failed
 *         run.helper("behind").start(me -> me.hold(lock(me).acquire()));
 *         run.untilAtRest();
 *         held.release();
 *     }).verify();
 * }
 *
 * private static DistributedLock lock(Actor actor) {
 *     return DistributedLock.at(actor.coordinator(), "/locks/a");
 * }
 * }</pre>
 *
 * <p>{@link io.conclave.testkit.driver.FaultDriver} says what is checked. Bodies block as an application would: in the
 * recipe's blocking forms, in {@link io.conclave.testkit.driver.Actor#await} for asynchronous ones, in
 * {@link io.conclave.testkit.driver.FaultRun#pause} to let time pass. Time is manual and moves only while everybody
 * waits, so nothing may sleep or poll in real time. A body need not catch anything: whether the victim's failure is the
 * right one is for the driver to judge.
 *
 * <p>Whether a scenario would notice a mistake is seen by planting one: see
 * {@link io.conclave.testkit.driver.FaultDriver#find} and {@link io.conclave.testkit.driver.Mistake}.
 */
@NullMarked
package io.conclave.testkit.driver;

import org.jspecify.annotations.NullMarked;
