import process from "node:process";
import type { ReadVariable } from "../http/secret.ts";

/** Reads a variable of this process's environment; keys come from there and nowhere else. */
export const readVariable: ReadVariable = (name) => process.env[name];
