/** The two roles one policy plays (paper, section 3). */
export type Role = "designer" | "agent";

/** The two arms of an environment's episodes: with and without the privileged hint. */
export type Arm = "plain" | "hint";

/** The skills of the games setting, in rotation order (paper, appendix). */
export const gameSkills = [
  "Mathematical Reasoning",
  "Logical Deduction",
  "Spatial Reasoning",
  "Pattern Recognition",
  "Optimization",
  "Causal Inference",
] as const;

export type GameSkill = (typeof gameSkills)[number];

/** The skills of the tool-use setting (paper, appendix). */
export const toolUseSkills = ["API Orchestration", "Data Retrieval", "State Modification", "Error Recovery", "Tool Selection", "Multi-Step Workflows"] as const;
