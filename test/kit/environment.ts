/**
 * What a program that a test starts has in its environment besides its settings: the folders of commands, and the folder
 * of compiled code that all suites of a run share.
 */
export const BASE_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  ["PATH", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
