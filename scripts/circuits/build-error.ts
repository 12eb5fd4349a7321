/**
 * What a build step reports instead of a stack trace. A class of its own, not the protocol package's: these steps run
 * before any package is built, and write files the packages are built from.
 */
export class BuildError extends Error {
  override readonly name = "BuildError";
  /** Stable, upper case: what a script or a test may match on. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Runs a command-line entry: a BuildError prints as one message with its code, anything else is a bug and keeps its stack. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(`${error.message}\n[${error.code}]`);
    process.exitCode = 1;
  }
}
