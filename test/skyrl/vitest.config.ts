import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** The tests against a real server: one file at a time, since each may start one. */
export default defineConfig({
  test: { root: join(import.meta.dirname, "../.."), include: ["test/skyrl/*.test.ts"], pool: "forks", fileParallelism: false, testTimeout: 1_800_000, hookTimeout: 600_000 },
});
