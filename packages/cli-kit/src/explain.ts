import { type ErrorTable, LOCAL_CHAIN_IDS, SottoError } from "@sotto/protocol";
import { money } from "./format.ts";
import { CliError } from "./frame/errors.ts";
import type { Config } from "./home/config.ts";

/**
 * Rewrites a package's error for the user: converts amounts to the token's unit and adds the next step.
 * @param errors the definitions of the program
 */
export function explain(error: unknown, config: Config, errors: ErrorTable): unknown {
  if (!(error instanceof SottoError) || error instanceof CliError) return error;
  const parts = error.parts.map((part) => (typeof part === "string" ? inTokens(part, config) : part));
  const next = nextStep(error, config, errors);
  const message = next === undefined ? parts : [...parts, `; ${next}`];
  return new SottoError(error.code, message, error.details, { cause: error });
}

/** Converts each amount of base units in our own words to the token's unit. */
export const inTokens = (text: string, token: Pick<Config, "decimals" | "symbol">): string =>
  text.replaceAll(/\b(\d{1,40}) base units/g, (_, amount: string) => money(BigInt(amount), token));

/** Appends the next step to an error's message, if the definition has one for this chain and these details. */
export function withNextStep(message: string, error: SottoError, config: Config, errors: ErrorTable): string {
  const next = nextStep(error, config, errors);
  return next === undefined ? message : `${message}; ${next}`;
}

function nextStep({ code, details }: SottoError, { chainId }: Config, errors: ErrorTable): string | undefined {
  const remedy = Object.hasOwn(errors, code) ? errors[code]?.remedy : undefined;
  if (remedy === undefined || typeof remedy === "string") return remedy;
  const { detail } = remedy;
  if (detail !== undefined && details[detail.name] !== detail.value) return undefined;
  return LOCAL_CHAIN_IDS.includes(chainId) ? remedy.local : remedy.elsewhere;
}
