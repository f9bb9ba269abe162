import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "models/**/*.test.ts"],
    // They need a server that is installed first: npm run test:skyrl.
    exclude: [...configDefaults.exclude, "test/skyrl/**"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
