import type { Rates } from "../report/plan.ts";

/** Measured rates of the bundled model. */
export const nanoRates: Rates = {};
