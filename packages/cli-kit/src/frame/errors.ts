import { createErrorClass } from "@sotto/protocol";
import type { CLI_ERRORS } from "../error-definitions.ts";

/** An error of the command line. */
export const CliError = /* @__PURE__ */ createErrorClass<typeof CLI_ERRORS>("CliError");
export type CliError = InstanceType<typeof CliError>;

/** An error USAGE: a wrong option or argument. */
export const usage = (message: string): CliError => new CliError("USAGE", message);
