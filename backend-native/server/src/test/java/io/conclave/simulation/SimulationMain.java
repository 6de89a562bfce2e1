package io.conclave.simulation;

import ch.qos.logback.classic.Level;

/**
 * Runs seeds from the command line: {@code [seeds] [first seed] [mistake]}, or one of them with everything that
 * happens: {@code trace seed [mistake]}; or seeds until planted mistakes are found: {@code mistakes seeds mistake...}.
 */
final class SimulationMain {
    private SimulationMain() {}

    public static void main(String[] arguments) {
        if (arguments.length > 0 && arguments[0].equals("trace")) {
            Mistake mistake = mistake(arguments);
            Campaign.logger().setLevel(Level.valueOf(System.getProperty("simulation.log", "OFF")));
            Simulation.Outcome outcome = Simulation.run(Long.parseLong(arguments[1]), mistake, true);
            System.out.println("seed " + outcome.seed() + ", trace "
                    + Long.toHexString(outcome.trace().hash()) + ": "
                    + (outcome.isClean() ? "clean" : outcome.violation()));
            if (!outcome.isClean()) {
                outcome.violation().printStackTrace(System.out);
            }
            return;
        }
        if (arguments.length > 0 && arguments[0].equals("mistakes")) {
            for (int i = 2; i < arguments.length; i++) {
                Campaign.find(Mistake.valueOf(arguments[i]), Long.parseLong(arguments[1]));
            }
            return;
        }
        long seeds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 1000;
        long first = arguments.length > 1 ? Long.parseLong(arguments[1]) : 1;
        Campaign campaign = Campaign.run(first, seeds, mistake(arguments), Integer.getInteger("simulation.threads", 1));
        System.out.println(campaign.report());
        System.exit(campaign.violations().isEmpty() ? 0 : 1);
    }

    private static Mistake mistake(String[] arguments) {
        return arguments.length > 2 ? Mistake.valueOf(arguments[2]) : Mistake.NONE;
    }
}
