package io.conclave.ensemble;

/**
 * The status that a server reports.
 *
 * @param leads whether it leads, as far as it knows
 * @param term of the leader that it knows
 * @param serves whether clients are served everything
 * @param voters how many members vote, as it knows
 * @param members how many members there are, as it knows
 */
record ServerStatus(boolean leads, long term, boolean serves, int voters, int members) {}
