// Checks that Node is new enough for this project's programs and stores. Imports nothing, so that a program can call it
// before it loads a module that older versions of Node lack.

/** The first Node version with built-in SQLite; the same as `engines` in the package.json files. */
const MIN_MAJOR = 22;
const MIN_MINOR = 13;

/**
 * Checks that this Node is new enough for the packages.
 * @param version `process.versions.node`
 * @returns the problem and its solution in one line, or undefined if this Node is new enough
 */
export function checkNodeVersion(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > MIN_MAJOR || (major === MIN_MAJOR && minor >= MIN_MINOR)) return undefined;
  const wanted = `${MIN_MAJOR}.${MIN_MINOR}`;
  return `this is Node ${version}, but Node ${wanted} or newer is needed; install one, or in a checkout of sotto start the program with npm run, which brings its own`;
}
