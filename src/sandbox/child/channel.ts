import { readSync, writeSync } from "node:fs";

/**
 * Descriptors a child gets from its parent. Standard input and output stay unused: merely looking at them makes Node
 * switch them to non-blocking.
 */
export const progressDescriptor = 3;
/** Both directions of the conversation. */
export const channelDescriptor = 4;

/** Writes all bytes, blocking. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) offset += retry(() => writeSync(descriptor, bytes, offset));
}

/** Reads some bytes, blocking; 0 at the end. */
export function readSome(descriptor: number, bytes: Uint8Array): number {
  return retry(() => readSync(descriptor, bytes));
}

/** For platforms on which inherited descriptors are non-blocking. */
function retry(io: () => number): number {
  for (;;) {
    try {
      return io();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
