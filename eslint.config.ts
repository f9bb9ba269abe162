import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

const nondeterminism = [
  { object: "Math", property: "random", message: "Derive a seed by name: core/seed.ts (invariant 4)." },
  { object: "Date", property: "now", message: "Only cli/ reads the clock: take a Clock (core/clock.ts)." },
  { object: "process", property: "env", message: "Only cli/ reads the environment." },
];

export default defineConfig(
  // Programs in environments/ are what the sandbox runs: data, held to the gates instead.
  { ignores: ["node_modules/", "runs/", "coverage/", ".cache/", "bin/", "environments/"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unnecessary-condition": ["error", { allowConstantLoopConditions: true }],
      "no-restricted-properties": ["error", ...nondeterminism],
      "max-params": ["error", 4],
    },
  },
  { files: ["src/cli/**", "bench/**", "scripts/**", "test/skyrl/**"], rules: { "no-restricted-properties": "off" } },
  { files: ["**/*.test.ts", "test/**"], rules: { "@typescript-eslint/no-non-null-assertion": "off" } },
);
