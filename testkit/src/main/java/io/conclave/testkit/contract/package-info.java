/**
 * What every backend promises, as tests: a backend's module extends
 * {@link io.conclave.testkit.contract.BackendContract}. And what the contracts of the recipes, which lie in the
 * recipes' modules, have in common: {@link io.conclave.testkit.contract.RecipeFixture}.
 */
@NullMarked
package io.conclave.testkit.contract;

import org.jspecify.annotations.NullMarked;
