/**
 * What every backend promises, as tests: a backend's module extends {@link io.conclave.testkit.contract.BackendContract}.
 */
@NullMarked
package io.conclave.testkit.contract;

import org.jspecify.annotations.NullMarked;
