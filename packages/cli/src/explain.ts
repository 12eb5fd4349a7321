import { LOCAL_CHAIN_IDS, SottoError } from "@sotto/protocol";
import { COMMAND_ERRORS } from "./error-definitions.ts";
import { money } from "./format.ts";
import { CliError } from "./frame/errors.ts";
import type { Config } from "./home/config.ts";

/** Rewrites a package's error for the user: converts amounts to the token's unit and adds the next step. */
export function explain(error: unknown, config: Config): unknown {
  if (!(error instanceof SottoError) || error instanceof CliError) return error;
  const parts = error.parts.map((part) => (typeof part === "string" ? inTokens(part, config) : part));
  const next = nextStep(error, LOCAL_CHAIN_IDS.includes(config.chainId));
  const message = next === undefined ? parts : [...parts, `; ${next}`];
  return new SottoError(error.code, message, error.details, { cause: error });
}

/** Converts each amount of base units in our own words to the token's unit. */
export const inTokens = (text: string, token: Pick<Config, "decimals" | "symbol">): string =>
  text.replaceAll(/\b(\d{1,40}) base units/g, (_, amount: string) => money(BigInt(amount), token));

/** Appends the next step to an error's message, if the definition has one for this chain and these details. */
export function withNextStep(message: string, error: SottoError, { chainId }: Pick<Config, "chainId">): string {
  const next = nextStep(error, LOCAL_CHAIN_IDS.includes(chainId));
  return next === undefined ? message : `${message}; ${next}`;
}

function nextStep({ code, details }: SottoError, local: boolean): string | undefined {
  const remedy = Object.hasOwn(COMMAND_ERRORS, code) ? COMMAND_ERRORS[code]?.remedy : undefined;
  if (remedy === undefined || typeof remedy === "string") return remedy;
  const { detail } = remedy;
  if (detail !== undefined && details[detail.name] !== detail.value) return undefined;
  return local ? remedy.local : remedy.elsewhere;
}
