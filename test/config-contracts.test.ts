import { expect, test } from "vitest";
import { loadConfig } from "../src/config/load.ts";
import { mergeInputs } from "../src/config/merge.ts";
import type { Config } from "../src/config/schema.ts";
import type { AdvantageOptions } from "../src/credit/advantages.ts";
import type { DesignerReward } from "../src/credit/reward.ts";
import type { ExampleBands } from "../src/curriculum/archive.ts";
import { defaultGates } from "../src/gates/config.ts";
import type { GatesConfig } from "../src/gates/config.ts";
import type { Loss, Optimiser, Sampling } from "../src/policy/policy.ts";
import { defaultLimits } from "../src/sandbox/limits.ts";

type Overrides<T> = T extends object ? { readonly [K in keyof T]?: Overrides<T[K]> } : T;

/** Compiles only while each part of the configuration has the shape that its consumer takes; `config/` may not import them. */
const parts = (config: Config) => ({
  reward: config.designerReward satisfies DesignerReward,
  advantages: config.advantages satisfies AdvantageOptions,
  bands: config.curriculum satisfies ExampleBands,
  gates: config.gates satisfies Overrides<GatesConfig>,
  loss: config.update.loss satisfies Loss,
  optimiser: config.update.optimiser satisfies Optimiser,
  sampling: [config.design.sampling, config.design.hintSampling, config.play.sampling] satisfies readonly Sampling[],
});

test("each part of the configuration is what its consumer takes", () => {
  expect(Object.values(parts(loadConfig("smoke").config)).every((part) => typeof part === "object")).toBe(true);
});

test("every limit of gates and sandbox can be overridden", () => {
  const { maxTurns, ...gates } = defaultGates;
  expect(maxTurns).toBeGreaterThan(0);
  const { config } = loadConfig("smoke", { gates, sandbox: { limits: defaultLimits } });
  expect(config.gates).toEqual(gates);
  expect(config.sandbox.limits).toEqual(defaultLimits);
  expect(mergeInputs(defaultGates, { leak: { maxShare: 0.5 } })).toEqual({ ...defaultGates, leak: { ...defaultGates.leak, maxShare: 0.5 } });
});
