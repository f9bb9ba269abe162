import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A path of the configuration: relative ones are taken from the package's root. */
export function packagePath(path: string): string {
  return isAbsolute(path) ? path : join(fileURLToPath(new URL("../../", import.meta.url)), path);
}
