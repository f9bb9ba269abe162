import type { CommandSpec } from "./arguments.ts";
import { chatCommand } from "./chat-command.ts";
import { corpusCommand } from "./corpus-command.ts";
import { designCommand } from "./design-command.ts";
import { doctorCommand } from "./doctor-command.ts";
import { environmentCommand } from "./environment-command.ts";
import { evaluateCommand } from "./evaluate-command.ts";
import { gateCommand } from "./gate-command.ts";
import { planCommand } from "./plan-command.ts";
import { presetsCommand } from "./presets-command.ts";
import { rolloutCommand } from "./rollout-command.ts";
import { runsCommand } from "./runs-command.ts";
import { trainCommand } from "./train-command.ts";

/** All commands, in the order in which `--help` lists them. */
export const commands: readonly CommandSpec[] = [trainCommand, presetsCommand, planCommand, designCommand, rolloutCommand, evaluateCommand, runsCommand, environmentCommand, gateCommand, chatCommand, corpusCommand, doctorCommand];
