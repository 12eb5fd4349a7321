import { LOCAL_CHAIN_IDS, SottoError } from "@sotto/protocol";
import { money } from "./format.ts";
import { CliError } from "./frame/errors.ts";
import { type Config, LOCAL_SERVICE } from "./home/config.ts";

/** An error of a package in the terms of this program: amounts in the unit that the user types, and the next step. */
export function explain(error: unknown, config: Config): unknown {
  if (!(error instanceof SottoError) || error instanceof CliError) return error;
  const message = error.message.replaceAll(/\b(\d{1,40}) base units/g, (_, amount: string) =>
    money(BigInt(amount), config),
  );
  return new SottoError(error.code, withNextStep(message, error, config), error.details, { cause: error });
}

/** The message of an error with the next step, if this program knows it. */
export function withNextStep(message: string, error: SottoError, { chainId }: Pick<Config, "chainId">): string {
  const next = nextStep(error, LOCAL_CHAIN_IDS.includes(chainId));
  return next === undefined ? message : `${message}; ${next}`;
}

function nextStep({ code, details }: SottoError, local: boolean): string | undefined {
  switch (code) {
    case "INSUFFICIENT_FUNDS":
      return local ? "`sotto deposit AMOUNT --mint` puts test tokens in" : "`sotto deposit AMOUNT` puts tokens in";
    case "INSUFFICIENT_TOKENS":
      return local ? "--mint makes test tokens first" : "send the account tokens first";
    case "MERGE_REQUIRED":
      return "`sotto merge` joins notes";
    case "REQUEST_LIMIT_EXCEEDED":
      return "raise it with --max";
    case "DAY_LIMIT_EXCEEDED":
      return "raise it with --max-day; `sotto purchases` lists what is open";
    case "HOST_LIMIT_EXCEEDED":
      return "raise it with --max-host; `sotto purchases` lists what is open";
    case "FUNDS_TIMED_OUT":
    case "PENDING":
      return details["cause"] === "NO_BLOCKS" && local ? "`sotto init --update --finality 0` sets it" : undefined;
    case "ENDPOINT_NOT_ALLOWED":
      return "`sotto init --update --service URL` changes the wallet's service, if you trust another one";
    case "RECIPIENT_CHANGED":
    case "PHONE_CHANGED":
      return "--new-recipient accepts the change";
    case "PAID_BUT_STALE":
    case "PAID_BUT_REFUSED":
      return "`sotto purchases` shows what a claim for a refund needs, `sotto dismiss ID` closes it";
    case "UNKNOWN_PURCHASE":
      return details["state"] === undefined ? "`sotto purchases` lists the open ones" : undefined;
    case "SERVICE_UNREACHABLE":
      return local ? `\`npm run service\` starts one at ${LOCAL_SERVICE}` : undefined;
    case "NODE_UNREACHABLE":
      return local ? "`npm run chain` starts a local chain" : undefined;
    case "POOL_NOT_DEPLOYED":
      return local
        ? "a local chain forgets everything when it ends: `npm run deploy:local`, then a new --home"
        : undefined;
    default:
      return undefined;
  }
}
