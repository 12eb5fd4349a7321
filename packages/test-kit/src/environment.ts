/**
 * Environment variables of every program that a test starts, in addition to its settings: PATH, and the folder of
 * compiled code that all suites of a run share.
 */
export const BASE_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  ["PATH", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
