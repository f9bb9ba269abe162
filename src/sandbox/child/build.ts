/**
 * Builds the base image: boots Pyodide from nothing, imports the allowed standard library, installs the guest modules,
 * and writes `<dispatch pointer> <lock pointer>\n` and the image to the channel. Arguments: Pyodide's directory,
 * the guest directory.
 */
import { readFileSync } from "node:fs";
import { channelDescriptor, writeAll } from "./channel.ts";
import { guestModules, preloadedModules } from "./library.ts";
import { bootPyodide } from "./interpreter.ts";

const [directory = "", guestDirectory = ""] = process.argv.slice(2);
const { pyodide } = await bootPyodide({ directory });

const sources = guestModules.map(({ name, file }) => [name, readFileSync(`${guestDirectory}/${file}`, "utf8")]);
const runtime = readFileSync(`${guestDirectory}/runtime.py`, "utf8");
const toolUse = readFileSync(`${guestDirectory}/tool_use.py`, "utf8");

/** JSON with ASCII only is a Python literal when it holds nothing but strings and lists. */
function literal(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const pointers = pyodide.runPython(`
import sys, importlib, warnings
from types import ModuleType
warnings.simplefilter("ignore")
for _name in ${literal(preloadedModules)}:
    importlib.import_module(_name)
for _name, _source in ${literal(sources)}:
    _module = sys.modules[_name] = ModuleType(_name)
    exec(compile(_source, "<" + _name + ">", "exec", dont_inherit=True), _module.__dict__)
_driver = sys.modules["spade_driver"]
_driver._runtime_code = compile(${literal(runtime)}, "<spade_runtime>", "exec", dont_inherit=True)
_driver._tool_use_code = compile(${literal(toolUse)}, "<spade_tool_use>", "exec", dont_inherit=True)
sys.modules["math_verify"] = ModuleType("math_verify")
sys.modules["math_verify"].__dict__.update(parse=_driver.answers.parse, verify=_driver.answers.verify)
for _name in ("gym", "gymnasium"):
    sys.modules[_name] = sys.modules["spade_gym"]
    sys.modules[_name + ".spaces"] = sys.modules["spade_gym"].spaces = sys.modules["spade_gym"]
import gc
for _name in ("_name", "_source", "_module"):
    globals().pop(_name, None)
gc.collect()
f"{id(_driver.dispatch)} {id(_driver.lock)}"
`) as string;

const image = pyodide.makeMemorySnapshot();
writeAll(channelDescriptor, Buffer.concat([Buffer.from(`${pointers}\n`), image]));
process.exit(0);
