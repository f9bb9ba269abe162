/** Milliseconds from an arbitrary start; injected so that nothing below `cli/` reads the clock itself. */
export type Clock = () => number;

/** The monotonic clock of this process, in milliseconds. */
export const monotonicClock: Clock = () => performance.now();
