/**
 * JSON, and what some servers send instead: bare `NaN`, `Infinity` and `-Infinity` are read as null, so that they are found as missing
 * numbers where they matter. @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g, (found) => (found.startsWith('"') ? found : "null"))) as unknown;
  }
}
